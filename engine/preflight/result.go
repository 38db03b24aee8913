package preflight

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"kdapilot/engine/gate"
	"kdapilot/engine/text"
)

// Format is the layout version of a stored Result.
const Format = 1

// MaxAge is how long a result, and the answer of a model, counts.
const MaxAge = 24 * time.Hour

// File is where a result is stored, relative to the worktree.
const File = ".humanize/kdapilot/preflight.json"

// MaxSize is the largest stored result that is read, in bytes.
const MaxSize = 1 << 20

// Fingerprint is the environment a result was seen in. Empty fields could not
// be read; they compare equal only to empty.
type Fingerprint struct {
	Host string `json:"host"`
	// Boot is the kernel's boot id: the driver may differ after a restart.
	Boot string `json:"boot,omitempty"`
	// ROCm is the installed version; Build stands for the compiled bindings.
	ROCm  string `json:"rocm,omitempty"`
	Build string `json:"build,omitempty"`
	Head  string `json:"head,omitempty"`
	// GPUs has one word per device: arch and id.
	GPUs []string `json:"gpus"`
	// Humanize is the version of the installed plugin.
	Humanize string `json:"humanize,omitempty"`
}

// Drift lists what differs between then and now, one line each.
func (f Fingerprint) Drift(now Fingerprint) []string {
	var out []string
	diff := func(what, was, is string) {
		if was != is {
			out = append(out, fmt.Sprintf("%s: was %s, is %s", what, orNone(was, "not known"), orNone(is, "not known")))
		}
	}
	diff("host", f.Host, now.Host)
	diff("boot", f.Boot, now.Boot)
	diff("ROCm", f.ROCm, now.ROCm)
	diff("build", f.Build, now.Build)
	diff("HEAD", short(f.Head), short(now.Head))
	diff("Humanize", f.Humanize, now.Humanize)
	diff("GPUs", strings.Join(f.GPUs, " "), strings.Join(now.GPUs, " "))
	return out
}

// Result is one whole preflight.
type Result struct {
	Version  int       `json:"version"`
	At       time.Time `json:"at"`
	TookMS   int64     `json:"took_ms"`
	Worktree string    `json:"worktree"`
	Slug     string    `json:"slug,omitempty"`
	Family   string    `json:"family,omitempty"`
	Arch     string    `json:"arch,omitempty"`
	// Model is the exact string of the start command.
	Model       string      `json:"model"`
	BaseBranch  string      `json:"base_branch,omitempty"`
	BaseCommit  string      `json:"base_commit,omitempty"`
	Fingerprint Fingerprint `json:"fingerprint"`
	// State is Green, Amber or Red; see Judge.
	State State `json:"state"`
	Rows  []Row `json:"rows"`
}

// Row finds a row by id, or nil.
func (r *Result) Row(id ID) *Row {
	for i := range r.Rows {
		if r.Rows[i].ID == id {
			return &r.Rows[i]
		}
	}
	return nil
}

// Finish sorts the rows, adds the two that look at the result as a whole, and
// sets its state. before is the result that was stored earlier, nil for none.
func (r *Result) Finish(before *Result) {
	r.Version = Format
	order := Order()
	rank := func(id ID) int {
		if i := slices.Index(order, id); i >= 0 {
			return i
		}
		return len(order)
	}
	r.Rows = append(r.Rows, judgeDowngraded(r, before), judgeCurrent(r, before))
	slices.SortStableFunc(r.Rows, func(a, b Row) int { return rank(a.ID) - rank(b.ID) })
	r.State = r.Judge()
}

// Judge is the state of the whole: Red if a row is red, or blocks something and
// is neither green nor merely amber; a check nobody made is not a green one.
func (r *Result) Judge() State {
	s := Green
	if len(r.Rows) == 0 {
		return Red
	}
	for _, x := range r.Rows {
		switch {
		case x.Holds():
			return Red
		case x.State != Green && x.State != NotNeeded:
			s = Amber
		}
	}
	return s
}

// Holding lists the rows that keep something shut.
func (r *Result) Holding() []Row {
	var out []Row
	for _, x := range r.Rows {
		if x.Holds() {
			out = append(out, x)
		}
	}
	return out
}

// judgeDowngraded compares with the stored result: a row that was red may only
// have become green.
func judgeDowngraded(r, before *Result) Row {
	if before == nil || before.Worktree != r.Worktree {
		return row(Downgraded, Green, "", "first result of this worktree")
	}
	var bad []string
	for _, was := range before.Rows {
		if was.State != Red || was.ID == Downgraded || was.ID == Current {
			continue
		}
		now := r.Row(was.ID)
		switch {
		case now == nil:
			bad = append(bad, string(was.ID)+" was red and is left out now")
		case now.State == Amber || now.State == NotRun || now.State == NotNeeded:
			bad = append(bad, fmt.Sprintf("%s was red and is %s now", was.ID, now.State))
		}
	}
	if len(bad) > 0 {
		return row(Downgraded, Red, "make them green; a red row is not argued away", bad...)
	}
	return row(Downgraded, Green, "", "red rows of the stored result are green or still red")
}

func judgeCurrent(r, before *Result) Row {
	seen := []string{"seen on " + orNone(r.Fingerprint.Host, "a host without a name") + " at HEAD " + orNone(short(r.Fingerprint.Head), "not known")}
	if before != nil {
		for _, d := range before.Fingerprint.Drift(r.Fingerprint) {
			seen = append(seen, "since the stored result: "+d)
		}
	}
	return row(Current, Green, "", seen...)
}

// Stored is a result as it lies on disk.
type Stored struct {
	// Result is nil when there is none, or none that can be read: see Why.
	Result *Result
	Why    string
	// Hash is the SHA-256 of the file's bytes, lower-case hex.
	Hash string
	// Here is the environment now; nil when nobody looked.
	Here *Fingerprint
}

// ForGate turns the stored result into what gate 2 looks at. Anything that is
// not a fresh result of this very environment is red; no result is NotRun.
func ForGate(s Stored, now time.Time) gate.Preflight {
	r := s.Result
	if r == nil {
		if s.Why != "" {
			return gate.Preflight{State: gate.Red, Hash: s.Hash, Text: "preflight result: " + s.Why}
		}
		return gate.Preflight{State: gate.NotRun, Due: true, Text: "no preflight was run in this worktree (kdapilot preflight)"}
	}
	p := gate.Preflight{State: gate.Green, At: r.At, Hash: s.Hash}
	old := now.Sub(r.At)
	holding := r.Holding()
	var drift []string
	if s.Here != nil {
		drift = r.Fingerprint.Drift(*s.Here)
	}
	switch {
	case len(holding) > 0:
		var ids []string
		for _, x := range holding {
			ids = append(ids, string(x.ID)+" "+string(x.State))
		}
		p.State, p.Text = gate.Red, strings.Join(ids, ", ")
	case old > MaxAge || old < -time.Minute:
		p.State, p.Text = gate.Red, "the result is "+age(old)+", at most 24 h count"
	case s.Here == nil:
		p.State, p.Text = gate.Unknown, "nobody compared the result with this host"
	case len(drift) > 0:
		p.State, p.Text = gate.Red, "PF-12: "+strings.Join(drift, "; ")
	case r.State != Green && r.State != Amber:
		p.State, p.Text = gate.Red, "the result calls itself "+string(r.State)
	default:
		p.Text = fmt.Sprintf("%s, %s, %s", r.State, plural(len(r.Rows), "check", "checks"), age(max(old, 0)))
	}
	return p
}

// Encode gives the bytes that are stored; the hash that gate 2 binds is theirs.
func (r *Result) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write preflight result: %w", err)
	}
	return append(b, '\n'), nil
}

// Parse reads stored bytes; name is for errors. Unknown fields, unknown states
// and rows without an id are refused: nothing in it may pass unjudged.
func Parse(name string, b []byte) (*Result, error) {
	if len(b) > MaxSize {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are read", name, len(b), MaxSize)
	}
	var r Result
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("%s: %s", name, text.Line(err.Error()))
	}
	if r.Version != Format {
		return nil, fmt.Errorf("%s: version %d, expected %d", name, r.Version, Format)
	}
	seen := map[ID]bool{}
	for i := range r.Rows {
		x := &r.Rows[i]
		if !slices.Contains(Order(), x.ID) || seen[x.ID] {
			return nil, fmt.Errorf("%s: row %d: id %q, expected each check once", name, i+1, text.Line(string(x.ID)))
		}
		seen[x.ID] = true
		if !x.State.known() {
			return nil, fmt.Errorf("%s: row %s: state %q, expected green, amber, red, not run, not known or not needed", name, x.ID, text.Line(string(x.State)))
		}
		// What a row blocks is not the file's to say.
		x.Title, x.Blocks, x.Do, x.Fix = x.ID.Title(), x.ID.Blocks(), text.Line(x.Do), text.Line(x.Fix)
		for k, l := range x.Seen {
			x.Seen[k] = text.Clip(text.Line(l), lineLimit)
		}
	}
	for _, id := range Order() {
		if !seen[id] {
			return nil, fmt.Errorf("%s: no row %s", name, id)
		}
	}
	for _, p := range []*string{&r.Worktree, &r.Slug, &r.Family, &r.Arch, &r.Model, &r.BaseBranch, &r.BaseCommit,
		&r.Fingerprint.Host, &r.Fingerprint.Boot, &r.Fingerprint.ROCm, &r.Fingerprint.Build, &r.Fingerprint.Head, &r.Fingerprint.Humanize} {
		*p = text.Clip(text.Line(*p), lineLimit)
	}
	for i, g := range r.Fingerprint.GPUs {
		r.Fingerprint.GPUs[i] = text.Clip(text.Line(g), lineLimit)
	}
	r.State = r.Judge()
	return &r, nil
}
