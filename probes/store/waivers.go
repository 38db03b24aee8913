package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"kdapilot/engine/gate"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// Waivers reads all waivers. A file that is no waiver is named in bad.
func (s Store) Waivers() (list []gate.Waiver, bad []string) {
	entries, err := os.ReadDir(s.path("waivers"))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			bad = append(bad, text.Line(err.Error()))
		}
		return nil, bad
	}
	for i, e := range entries {
		if i >= maxFiles {
			bad = append(bad, fmt.Sprintf("waivers: more than %d files", maxFiles))
			break
		}
		if strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		p := s.path("waivers", e.Name())
		b, _, err := readfile.All(p, sealLimit)
		if err != nil {
			bad = append(bad, text.Line(err.Error()))
			continue
		}
		w, err := gate.DecodeWaiver(p, b)
		if err != nil {
			bad = append(bad, text.Line(err.Error()))
			continue
		}
		list = append(list, w)
	}
	return list, bad
}

var waiverName = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// WriteWaiver keeps a waiver in a file of its own; none is ever replaced.
func (s Store) WriteWaiver(w gate.Waiver) error {
	b, err := w.Encode()
	if err != nil {
		return err
	}
	if !waiverName.MatchString(w.Precondition) {
		return fmt.Errorf("waiver: %q is not the id of a precondition", w.Precondition)
	}
	at, err := s.open("waivers")
	if err != nil {
		return err
	}
	defer at.Close()
	return writeOnce(at, fmt.Sprintf("%s-%d.json", w.Precondition, w.At.UnixNano()), b, 0o444)
}
