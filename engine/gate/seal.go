package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"
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

	// Sum is the SHA-256 over all the rest as it is in the file: it covers Who
	// and At, which ID, fixed before the phrase was typed, can not. Encode fills
	// it in.
	Sum string `json:"sum"`
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
	s.ID, s.Who, s.At, s.Sum = "", "", time.Time{}, ""
	return s.digest()
}

func (s Seal) sum() string {
	s.Sum = ""
	return s.digest()
}

// digest is the SHA-256 of the canonical form: compact JSON with the fields in
// the order of the type.
func (s Seal) digest() string {
	b, err := json.Marshal(s)
	if err != nil {
		// Strings, numbers and times always marshal.
		return ""
	}
	h := sha256.Sum256(oneForm(b))
	return hex.EncodeToString(h[:])
}

// oneForm gives JSON one form: a byte that is no UTF-8 is written as an escape
// and comes back as the character.
func oneForm(b []byte) []byte { return bytes.ReplaceAll(b, []byte(`\ufffd`), []byte("\ufffd")) }

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
	s.Sum = s.sum()
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return append(oneForm(b), '\n'), nil
}

// DecodeSeal reads a seal's file and checks that id and sum fit its content and
// that every byte is as Encode wrote it. name is the path to name in errors.
func DecodeSeal(name string, b []byte) (Seal, error) {
	var s Seal
	if err := decode(name, b, &s, "a seal"); err != nil {
		return Seal{}, err
	}
	switch {
	case s.Version != SealVersion:
		return Seal{}, fmt.Errorf("%s: seal version %d, expected %d", name, s.Version, SealVersion)
	case s.Gate != G1 && s.Gate != G2:
		return Seal{}, fmt.Errorf("%s: gate %q, expected G1 or G2", name, s.Gate)
	case s.ID != s.hash():
		return Seal{}, fmt.Errorf("%s: the id does not fit the content: the seal was changed", name)
	case s.Sum != s.sum():
		return Seal{}, fmt.Errorf("%s: the sum does not fit the content: the seal was changed", name)
	}
	if again, err := s.Encode(); err != nil || !bytes.Equal(again, b) {
		return Seal{}, fmt.Errorf("%s: not written by this program: the seal was changed", name)
	}
	return s, nil
}
