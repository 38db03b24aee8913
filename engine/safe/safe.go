// Package safe starts goroutines. Every goroutine of kdapilot goes through Go,
// so that a panic becomes an event on screen and the terminal is restored,
// instead of a raw terminal full of stack traces.
//
// What may not enter: recovery that hides a bug. The panic is always handed on.
package safe

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a recovered panic with the goroutine's name and stack.
type PanicError struct {
	Where string
	Value any
	Stack []byte
}

// Error gives one line without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic in %s: %v", e.Where, e.Value) }

// Go runs fn on a goroutine of its own. If fn panics, report receives a
// *PanicError; report must not block for long.
func Go(where string, report func(error), fn func()) {
	go func() {
		defer func() {
			if v := recover(); v != nil {
				report(&PanicError{Where: where, Value: v, Stack: debug.Stack()})
			}
		}()
		fn()
	}()
}
