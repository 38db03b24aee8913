package live

import (
	"sync"
	"sync/atomic"
	"time"

	"kdapilot/engine/session"
)

// publishEvery bounds how often Changed fires while facts pour in: ten times a
// second is as fast as a person reads and as slow as an SSH line likes.
const publishEvery = 100 * time.Millisecond

// publisher holds the newest snapshot and tells, not too often, that there is
// a newer one. A change after a quiet time is told at once.
type publisher struct {
	mu      sync.Mutex // orders reductions
	newest  atomic.Pointer[session.Snapshot]
	changed chan struct{}

	tellMu sync.Mutex
	told   time.Time
	timer  *time.Timer
	now    func() time.Time
}

func newPublisher(first *session.Snapshot, now func() time.Time) *publisher {
	p := &publisher{changed: make(chan struct{}, 1), now: now}
	p.newest.Store(first)
	return p
}

// apply reduces facts into the newest snapshot and tells about it. It returns
// the snapshots before and after.
func (p *publisher) apply(facts ...session.Fact) (before, after *session.Snapshot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before = p.newest.Load()
	after = before
	for _, f := range facts {
		after = session.Reduce(after, f, p.now())
	}
	p.newest.Store(after)
	if len(facts) > 0 {
		p.tell()
	}
	return before, after
}

func (p *publisher) tell() {
	p.tellMu.Lock()
	defer p.tellMu.Unlock()
	if p.timer != nil {
		return // one is on its way and will carry this change too
	}
	wait := publishEvery - p.now().Sub(p.told)
	if wait <= 0 {
		p.send()
		return
	}
	p.timer = time.AfterFunc(wait, func() {
		p.tellMu.Lock()
		defer p.tellMu.Unlock()
		p.timer = nil
		p.send()
	})
}

// send is called with tellMu held.
func (p *publisher) send() {
	p.told = p.now()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}
