package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
		if i >= maxFiles || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		p := s.path("waivers", e.Name())
		b, _, err := readfile.All(p, sealLimit)
		if err != nil {
			bad = append(bad, text.Line(err.Error()))
			continue
		}
		var w gate.Waiver
		dec := json.NewDecoder(strings.NewReader(string(b)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&w); err != nil || w.Precondition == "" || w.Binds == "" {
			bad = append(bad, text.Line(fmt.Sprintf("%s: expected a waiver with precondition, binds, who, why, at", p)))
			continue
		}
		w.Who, w.Why = text.Line(w.Who), text.Line(w.Why)
		list = append(list, w)
	}
	return list, bad
}
