package plan

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"kdapilot/engine/text"
)

var (
	reBrace = regexp.MustCompile(`\{\{([^{}]*)\}\}|\{\{`)
	reName  = regexp.MustCompile(`^\s*[A-Za-z][A-Za-z0-9_. -]*\s*$`)

	reSwitch = regexp.MustCompile(`(?i)\bgit\s+(?:-C\s+\S+\s+)?switch\b|\bcheckout\s+(?:-b\b|--orphan\b)|\bworktree\s+add\b`)
	reMaybe  = regexp.MustCompile(`(?i)\bgit\s+(?:-C\s+\S+\s+)?checkout\s+[^\s.-]|\bswitch(?:ing)?\s+to\s+(?:a\s+|the\s+|another\s+)?(?:new\s+|other\s+)?branch\b|\bcreate\s+a\s+(?:new\s+)?branch\b`)
	reNever  = regexp.MustCompile(`(?i)\b(?:never|not|no|don't|cannot|without|refuse[sd]?|avoid|forbidden)\b`)

	reTerm = regexp.MustCompile("^(?:[0-9]+[.)]\\s+)?[*_`]{0,3}([KRW])[*_`]{0,3}(?:\\s*\\([^)]{0,60}\\))?[*_`]{0,3}\\s*:[*_`]{0,3}\\s*(.*)$")
)

// hits collects what may stand on any line.
func (d *Doc) hits() {
	for i := range d.lines {
		l := &d.lines[i]
		d.Placeholders = appendHits(d.Placeholders, placeholders(i+1, l.text))
		d.BranchSwitches = appendHits(d.BranchSwitches, switches(i+1, l.text))
		if l.fence || l.hidden {
			continue
		}
		if m := reTerm.FindStringSubmatch(l.words()); m != nil && len(d.Contract) < MaxItems {
			d.Contract = append(d.Contract, Term{Letter: m[1], Text: text.Clip(m[2], maxText), Line: i + 1, InDraft: l.draft})
		}
	}
}

func appendHits(have, more []Hit) []Hit {
	return append(have, more[:min(len(more), MaxItems-len(have))]...)
}

// Placeholders finds unresolved {{…}} in any text, with its lines. A name in
// the braces is one for sure; other uses of double braces may be code.
func Placeholders(b []byte) []Hit {
	var out []Hit
	for i, t := range split(&Doc{}, b) {
		out = appendHits(out, placeholders(i+1, t))
	}
	return out
}

func placeholders(n int, t string) []Hit {
	if !strings.Contains(t, "{{") {
		return nil
	}
	var out []Hit
	for _, m := range reBrace.FindAllStringSubmatchIndex(t, 50) {
		h := Hit{Line: n, Column: utf8.RuneCountInString(t[:m[0]]) + 1, Text: text.Clip(t[m[0]:m[1]], 120)}
		h.Sure = m[2] >= 0 && reName.MatchString(t[m[2]:m[3]])
		if m[2] < 0 {
			h.Text = text.Clip(t[m[0]:], 120)
		}
		out = append(out, h)
	}
	return out
}

func switches(n int, t string) []Hit {
	// Cheap words first: the expressions below are the slow part of a plan.
	if low := strings.ToLower(t); !strings.Contains(low, "switch") && !strings.Contains(low, "checkout") && !strings.Contains(low, "worktree") && !strings.Contains(low, "branch") {
		return nil
	}
	at, sure := reSwitch.FindStringIndex(t), true
	if at == nil {
		at, sure = reMaybe.FindStringIndex(t), false
	}
	if at == nil {
		return nil
	}
	if reNever.MatchString(t[:at[0]]) {
		sure = false
	}
	return []Hit{{Line: n, Column: utf8.RuneCountInString(t[:at[0]]) + 1, Text: text.Clip(strings.TrimSpace(t), 200), Sure: sure}}
}
