package session

import "kdapilot/engine/bench"

// CompareSetsByID compares two of sets (newest first). With empty ids it takes
// the newest set and the newest older one of its family; nil when there is no
// such pair, or when an id names no set.
func CompareSetsByID(sets []RowSet, base, cand string) *Delta {
	picked := base != "" || cand != ""
	b, c := find(sets, base), find(sets, cand)
	if cand == "" && len(sets) > 0 {
		c = &sets[0]
	}
	if base == "" && c != nil {
		b = olderOfFamily(sets, c)
	}
	if b == nil || c == nil || b == c || b.Result == nil || c.Result == nil {
		return nil
	}
	return &Delta{Base: b.ID, Cand: c.ID, Picked: picked, Comparison: bench.Compare(arm(b), arm(c), bench.Options{Differs: unlike(b, c)})}
}

func find(sets []RowSet, id string) *RowSet {
	for i := range sets {
		if sets[i].ID == id {
			return &sets[i]
		}
	}
	return nil
}

func olderOfFamily(sets []RowSet, c *RowSet) *RowSet {
	seen := false
	for i := range sets {
		s := &sets[i]
		if s.ID == c.ID {
			seen = true
			continue
		}
		if seen && s.Result != nil && c.Result != nil && s.Result.Family == c.Result.Family && s.Result.Mode == c.Result.Mode {
			return s
		}
	}
	return nil
}

func arm(s *RowSet) bench.Arm {
	return bench.Arm{Label: s.Label, Runs: [][]bench.Row{s.Result.AllRows()}}
}

// unlike names the fields in which two runs differ such that their times must
// not be compared: another device, another harness, a stand-in against a real
// tool. Sets without a manifest can not be checked and pass.
func unlike(b, c *RowSet) []string {
	var out []string
	if b.Result.GPU != "" && c.Result.GPU != "" && b.Result.GPU != c.Result.GPU {
		out = append(out, "gpu: "+b.Result.GPU+" and "+c.Result.GPU)
	}
	if b.Run == nil || c.Run == nil {
		return out
	}
	mb, mc := &b.Run.Manifest, &c.Run.Manifest
	if mb.Simulated != mc.Simulated {
		out = append(out, "simulated and not simulated")
	}
	if !(mb.Simulated && mc.Simulated) && mb.Place.Host != mc.Place.Host && mb.Place.Host != "" && mc.Place.Host != "" {
		out = append(out, "host: "+mb.Place.Host+" and "+mc.Place.Host)
	}
	hashes := map[string]string{}
	for _, h := range mb.Harness {
		hashes[h.Path] = h.SHA256
	}
	for _, h := range mc.Harness {
		if was, ok := hashes[h.Path]; ok && was != h.SHA256 {
			out = append(out, "judge file "+h.Path+" differs")
		}
	}
	return out
}
