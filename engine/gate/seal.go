package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"kdapilot/engine/fact"
)

// SealVersion is the layout this program writes and reads.
const SealVersion = 1

// Seal is a decision bound to bytes, written once. ID is the SHA-256 of its
// canonical JSON without ID, Who and At; Opened, the moment the gate was opened,
// is part of it, so that two decisions about the same bytes are two seals.
type Seal struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Gate    ID     `json:"gate"`
	// Opened is when the person opened the gate, At when the phrase was complete.
	Opened time.Time `json:"opened"`
	At     time.Time `json:"at"`
	// Who is "user@host", as the system names them.
	Who string `json:"who"`

	Plan       Bound   `json:"plan"`
	Draft      Bound   `json:"draft"`
	Judges     []Bound `json:"judges"`
	BaseBranch string  `json:"base_branch"`
	BaseCommit string  `json:"base_commit"`

	// The rest is bound by gate 2 alone. G1 is the id of the seal of gate 1.
	G1        string   `json:"g1,omitempty"`
	Branch    string   `json:"branch,omitempty"`
	Head      string   `json:"head,omitempty"`
	Preflight string   `json:"preflight,omitempty"`
	Humanize  string   `json:"humanize,omitempty"`
	Argv      []string `json:"argv,omitempty"`

	// Waivers are those the gate was opened with.
	Waivers []Waiver `json:"waivers,omitempty"`
}

// NewSeal is what would be sealed if the phrase were typed now.
func NewSeal(g ID, f *Facts, opened time.Time) Seal {
	s := Seal{
		Version: SealVersion, Gate: g, Opened: opened.UTC().Round(0),
		Plan: bare(f.Plan), Draft: bare(f.Draft), BaseBranch: f.BaseBranch, BaseCommit: f.BaseCommit,
	}
	for _, j := range f.Judges {
		s.Judges = append(s.Judges, bare(j))
	}
	for _, p := range Check(g, f) {
		if p.Waiver != nil {
			s.Waivers = append(s.Waivers, *p.Waiver)
		}
	}
	if g == G2 {
		if f.G1 != nil {
			s.G1 = f.G1.ID
		}
		s.Branch, s.Head, s.Humanize = f.Repo.Branch, f.Repo.Head, f.Humanize
		s.Argv = slices.Clone(f.Argv)
		s.Preflight = string(NotRun)
		if f.Preflight.Hash != "" {
			s.Preflight = string(f.Preflight.State) + " " + f.Preflight.Hash
		}
	}
	s.ID = s.hash()
	return s
}

func bare(b Bound) Bound { return Bound{Path: b.Path, SHA256: b.SHA256, Size: b.Size} }

func (s Seal) hash() string {
	s.ID, s.Who, s.At = "", "", time.Time{}
	b, err := json.Marshal(s)
	if err != nil {
		// Strings, numbers and times always marshal.
		return ""
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// Phrase is what a person has to type: for gate 1 the word approve and the
// first six digits of the seal, for gate 2 the base branch's name.
func (s Seal) Phrase() string {
	if s.Gate == G1 {
		return "approve " + s.ID[:min(6, len(s.ID))]
	}
	return s.BaseBranch
}

// Encode gives the bytes of the seal's file.
func (s Seal) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return append(b, '\n'), nil
}

// DecodeSeal reads a seal's file and checks that its id fits its content. name
// is the path to name in errors.
func DecodeSeal(name string, b []byte) (Seal, error) {
	var s Seal
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return Seal{}, fmt.Errorf("%s: not a seal: %w", name, err)
	}
	switch {
	case s.Version != SealVersion:
		return Seal{}, fmt.Errorf("%s: seal version %d, expected %d", name, s.Version, SealVersion)
	case s.Gate != G1 && s.Gate != G2:
		return Seal{}, fmt.Errorf("%s: gate %q, expected G1 or G2", name, s.Gate)
	case s.ID != s.hash():
		return Seal{}, fmt.Errorf("%s: the id does not fit the content: the seal was changed", name)
	}
	return s, nil
}

// Change is one bound value that is not as it was sealed.
type Change struct {
	// What is "plan", "draft", "judge", "base branch", "base commit", "HEAD",
	// "branch", "start command", "preflight", "humanize", "seal of gate 1",
	// "waivers" or "dirty file".
	What string `json:"what"`
	Path string `json:"path,omitempty"`
	Was  string `json:"was"`
	Is   string `json:"is"`
}

// String is the change as one line.
func (c Change) String() string {
	what := c.What
	if c.Path != "" {
		what += " " + c.Path
	}
	return fmt.Sprintf("%s changed: %s, now %s", what, firstOf(short(c.Was), "nothing"), firstOf(short(c.Is), "nothing"))
}

// Changes lists what a seal binds and the facts do not show any more. Facts that
// were not read (Status NotRead, git not asked) are no change: nothing is known
// about them.
func (s Seal) Changes(f *Facts) []Change {
	var out []Change
	out = append(out, bound("plan", s.Plan, f.Plan)...)
	out = append(out, bound("draft", s.Draft, f.Draft)...)
	out = append(out, s.judgeChanges(f)...)
	text := func(what, was, is string) {
		if was != is {
			out = append(out, Change{What: what, Was: was, Is: is})
		}
	}
	text("base branch", s.BaseBranch, f.BaseBranch)
	text("base commit", s.BaseCommit, f.BaseCommit)
	if b := f.Repo.Base; b != nil && b.Ref == s.BaseBranch && b.Status.Known() && b.Commit != s.BaseCommit {
		out = append(out, Change{What: "base branch", Path: s.BaseBranch, Was: s.BaseCommit, Is: b.Commit})
	}
	if s.Gate != G2 {
		return out
	}
	now := NewSeal(G2, f, s.Opened)
	text("seal of gate 1", s.G1, now.G1)
	text("HEAD", s.Head, now.Head)
	text("branch", s.Branch, now.Branch)
	text("start command", strings.Join(s.Argv, " "), strings.Join(now.Argv, " "))
	text("preflight", s.Preflight, now.Preflight)
	text("humanize", s.Humanize, now.Humanize)
	return out
}

func bound(what string, was, is Bound) []Change {
	if was.SHA256 == is.SHA256 && was.Path == is.Path || is.Status == fact.NotRead || is.Status == fact.Torn {
		return nil
	}
	return []Change{{What: what, Path: was.Path, Was: was.SHA256, Is: firstOf(is.SHA256, is.Status.String())}}
}

func (s Seal) judgeChanges(f *Facts) []Change {
	if f.Judges == nil && f.JudgesWhy == "" {
		return nil
	}
	now := map[string]Bound{}
	for _, j := range f.Judges {
		now[j.Path] = j
	}
	var out []Change
	for _, j := range s.Judges {
		is, ok := now[j.Path]
		if !ok {
			out = append(out, Change{What: "judge", Path: j.Path, Was: j.SHA256})
			continue
		}
		out = append(out, bound("judge", j, is)...)
		delete(now, j.Path)
	}
	for _, j := range f.Judges {
		if _, left := now[j.Path]; left {
			out = append(out, Change{What: "judge", Path: j.Path, Is: j.SHA256})
		}
	}
	return out
}
