package main

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// The renderer looks for a changed frame on a fixed ticker. Fast enough for a
// key press (8 ms) it costs 1.5 % of a core for as long as the cockpit stands
// in a side pane; cheap enough to idle it makes keys feel slow. frameClock
// turns the same ticker up when something happens and down again afterwards.
const (
	frameBusy = time.Second / 120
	frameIdle = time.Second / 2
	// frameLinger is how long after the last message the clock stays fast: long
	// enough for the frame that the message caused, and for a held key.
	frameLinger = 120 * time.Millisecond
)

// frameClock reaches the renderer's ticker. The library has no setting for it,
// so the unexported field is looked up by name; when a later version has no
// such field the clock does nothing and the program runs at fallbackFPS.
type frameClock struct {
	ticker *time.Ticker
	mu     sync.Mutex
	calm   *time.Timer
	fast   bool
}

// newFrameClock must be called while the program runs, from Update's goroutine:
// the library creates the ticker just before the first message.
func newFrameClock(p *tea.Program) *frameClock {
	c := &frameClock{ticker: rendererTicker(p)}
	if c.ticker != nil {
		c.calm = time.AfterFunc(frameLinger, c.slow)
	}
	return c
}

// Busy makes the next frames come fast. It is cheap enough for every message.
func (c *frameClock) Busy() {
	if c == nil || c.ticker == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.fast {
		c.fast = true
		c.ticker.Reset(frameBusy)
	}
	c.calm.Reset(frameLinger)
}

func (c *frameClock) slow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fast = false
	c.ticker.Reset(frameIdle)
}

func rendererTicker(p *tea.Program) *time.Ticker {
	f := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !f.IsValid() || f.Type() != reflect.TypeFor[*time.Ticker]() || f.IsNil() {
		return nil
	}
	return *(**time.Ticker)(unsafe.Pointer(f.UnsafeAddr()))
}
