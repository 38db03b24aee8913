package flyprof

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"

	"kdapilot/engine/stall"
)

// differences names the parts in which a stored artifact differs from a
// computed one, leaving out the producers of waits.
func differences(stored, computed *stall.Bubbles) []string {
	var out []string
	if stored.DispatchDir != computed.DispatchDir {
		out = append(out, "dispatch_dir "+stored.DispatchDir+", here "+computed.DispatchDir)
	}
	out = append(out, totalsDiffer(&stored.Totals, &computed.Totals)...)
	for _, part := range []struct {
		name string
		a, b any
	}{
		{"stall_taxonomy", stored.Taxonomy, computed.Taxonomy},
		{"hotspots", withoutProducers(stored.Hotspots), withoutProducers(computed.Hotspots)},
		{"by_source", stored.BySource, computed.BySource},
		{"inst_mix", stored.InstMix, computed.InstMix},
		{"occupancy", stored.Occupancy, computed.Occupancy},
	} {
		if !reflect.DeepEqual(part.a, part.b) {
			out = append(out, part.name+" differs")
		}
	}
	return out
}

func totalsDiffer(a, b *stall.Totals) []string {
	var out []string
	for _, f := range []struct {
		name string
		a, b int64
	}{
		{"instructions", int64(a.Instructions), int64(b.Instructions)}, {"total_latency", a.TotalLatency, b.TotalLatency},
		{"total_stall", a.TotalStall, b.TotalStall}, {"total_idle", a.TotalIdle, b.TotalIdle}, {"hitcount", a.HitCount, b.HitCount},
	} {
		if f.a != f.b {
			out = append(out, fmt.Sprintf("%s %d, here %d", f.name, f.a, f.b))
		}
	}
	if a.StallPct != b.StallPct {
		out = append(out, fmt.Sprintf("stall_pct %s, here %s", a.StallPct, b.StallPct))
	}
	return out
}

func withoutProducers(in []stall.Hotspot) []stall.Hotspot {
	out := slices.Clone(in)
	for i := range out {
		out[i].Producers = nil
	}
	return out
}

// sameTotals compares a report with the artifact it should have copied from.
func sameTotals(r *reportFile, b *stall.Bubbles) []string {
	out := totalsDiffer(r.Totals, &b.Totals)
	if !reflect.DeepEqual(*r.Taxonomy, b.Taxonomy) {
		out = append(out, "stall_taxonomy differs")
	}
	return out
}

// identity checks that the artifacts speak of one kernel.
func (l *loader) identity() {
	c := l.a.Capture
	label := l.a.Trust.Kernel
	if c != nil && l.a.Rows != nil && isSymbol(c.Kernel) && isSymbol(label) && c.Kernel != label && !slices.Contains(l.a.Trust.Kernels, c.Kernel) {
		l.bad("kernel-differs", l.a.Dir, "capture.json is about kernel "+c.Kernel+", the trace about "+label)
	}
	if o := l.facts.Occupancy; o != nil && isSymbol(label) && len(o.Dispatches) > 1 {
		known := false
		for _, name := range o.Dispatches {
			known = known || name == label
		}
		if !known {
			l.bad("kernel-not-in-occupancy", filepath.Join(l.a.Dir, "occupancy.json"), "occupancy.json does not list the traced kernel "+label)
		}
	}
	if c != nil && c.ArchVGPR != nil && l.a.Trust.Occupancy.Registers != nil && *c.ArchVGPR != l.a.Trust.Occupancy.Registers.Arch {
		l.bad("registers-differ", l.a.Dir, fmt.Sprintf("capture.json counted %d registers, the trace has %d: another build",
			*c.ArchVGPR, l.a.Trust.Occupancy.Registers.Arch))
	}
}

// isSymbol says that a name is a plain identifier, so that two spellings of it
// can be compared; C++ names come mangled in one place and not in the other.
func isSymbol(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != "" && len(s) < 512 && (len(s) < 2 || s[:2] != "_Z")
}
