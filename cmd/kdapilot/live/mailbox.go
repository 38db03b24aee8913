package live

import (
	"sync"

	"kdapilot/engine/session"
)

// mailbox hands on events in order and without loss; put never blocks. The
// events a cockpit sees are few (runs that end, gates that open), so nothing
// bounds the queue but the newest 1000 of a runaway.
type mailbox struct {
	out  chan session.Event
	mu   sync.Mutex
	list []session.Event
	busy bool
}

const mailboxMax = 1000

func newMailbox() *mailbox { return &mailbox{out: make(chan session.Event)} }

func (m *mailbox) put(e session.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.list) == mailboxMax {
		m.list = m.list[1:]
	}
	m.list = append(m.list, e)
	if !m.busy {
		m.busy = true
		go m.drain()
	}
}

// drain runs while there is something to deliver.
func (m *mailbox) drain() {
	for {
		m.mu.Lock()
		if len(m.list) == 0 {
			m.busy = false
			m.mu.Unlock()
			return
		}
		e := m.list[0]
		m.list = m.list[1:]
		m.mu.Unlock()
		m.out <- e
	}
}
