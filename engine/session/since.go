package session

import (
	"fmt"
	"time"

	"kdapilot/engine/loop"
)

// Mark is what a person had seen when the cockpit was left.
type Mark struct {
	At       time.Time `json:"at"`
	Loop     string    `json:"loop"`
	Phase    string    `json:"phase"`
	Reviewed int       `json:"reviewed"` // rounds with a review
	Head     string    `json:"head"`
	Ahead    int       `json:"ahead"` // commits since the base
	Runs     int       `json:"runs"`
	Reds     []string  `json:"reds"`
}

// MarkOf is the mark of a snapshot.
func MarkOf(s *Snapshot, at time.Time) Mark {
	m := Mark{At: at, Head: s.Repo.Head, Runs: len(s.Runs)}
	if l := s.Loops.Current(); l != nil {
		m.Loop, m.Phase = l.Name, string(l.Phase)
		m.Reviewed = reviewed(l)
	}
	if b := s.Repo.Base; b != nil && b.Distance != nil {
		m.Ahead = b.Distance.Ahead
	}
	for _, n := range s.Notices {
		if n.Severity == Red {
			m.Reds = append(m.Reds, n.Text)
		}
	}
	return m
}

func reviewed(l *loop.Loop) int {
	n := 0
	for i := range l.Rounds {
		if l.Rounds[i].Kind != "" {
			n++
		}
	}
	return n
}

// SinceMark says what happened since a mark; nil when nothing did.
func SinceMark(m Mark, s *Snapshot) *Since {
	out := &Since{At: m.At}
	add := func(format string, args ...any) { out.Lines = append(out.Lines, fmt.Sprintf(format, args...)) }
	if l := s.Loops.Current(); l != nil {
		switch {
		case l.Name != m.Loop:
			add("a new loop: %s", l.Name)
		case string(l.Phase) != m.Phase:
			add("loop: %s, was %s", l.Phase, m.Phase)
		}
		if l.Name == m.Loop {
			for i := range l.Rounds[min(m.Reviewed, len(l.Rounds)):] {
				r := &l.Rounds[m.Reviewed+i]
				switch r.Kind {
				case loop.SummaryReview:
					add("round %d reviewed: %s", r.N, r.Verdict)
				case loop.CodeReview:
					add("round %d code review: %d findings", r.N, len(r.Findings))
				}
			}
		}
	}
	if b := s.Repo.Base; b != nil && b.Distance != nil && b.Distance.Ahead != m.Ahead {
		add("%+d commits on the base", b.Distance.Ahead-m.Ahead)
	} else if s.Repo.Head != "" && m.Head != "" && s.Repo.Head != m.Head {
		add("HEAD moved")
	}
	if n := len(s.Runs) - m.Runs; n > 0 {
		add("%d new runs", n)
	}
	old := map[string]bool{}
	for _, r := range m.Reds {
		old[r] = true
	}
	for _, n := range s.Notices {
		if n.Severity == Red && !old[n.Text] {
			add("new red: %s", n.Text)
		}
	}
	if len(out.Lines) == 0 {
		return nil
	}
	return out
}
