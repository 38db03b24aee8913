package main

import (
	"fmt"
	"io"
	"strings"

	"kdapilot/engine/stall"
)

func printStalls(w io.Writer, v *stall.View) error {
	p := printer{w: w}
	p.line("%s  (%s)", v.Path, v.Used)
	p.line("%s  %s%% stalled  %s", v.Trust.Kernel, v.Bubbles.Totals.StallPct, v.Freshness.Verdict)
	p.line("  trust: %s", strings.Join(trustWords(&v.Trust), ", "))
	for _, r := range v.Freshness.Reasons {
		p.line("  %s", r)
	}
	for _, c := range v.Trust.Caveats {
		p.line("  note: %s", c)
	}
	p.line("  share of all stall cycles, * is a bubble:")
	for _, c := range v.Bubbles.Taxonomy.ByClass {
		mark := " "
		if c.IsBubble {
			mark = "*"
		}
		p.line("  %2d %-10s%s %6s%%", c.Rank, c.Class, mark, c.Pct)
	}
	if v.Diff != nil {
		printStallDiff(&p, v.Diff)
	}
	for _, f := range v.Findings {
		p.line("  finding: %s", f.Text)
	}
	return p.err
}

// printStallDiff compares shares and cycles per hit: raw cycles grow with the
// number of waves that were caught.
func printStallDiff(p *printer, d *stall.Delta) {
	p.line("against %s, noise floor %s points", d.Before, d.FloorPP)
	for _, r := range d.Reasons {
		p.line("  not comparable: %s", r)
	}
	for _, c := range d.Cautions {
		p.line("  note: %s", c)
	}
	for _, c := range d.Classes {
		p.line("  %-10s %6s -> %6s  %+6.2f points  %-14s  cycles/hit %s -> %s", c.Class, c.Before, c.After, float64(c.DeltaPP), c.Verdict, perHit(c.HitBefore), perHit(c.HitAfter))
		if c.Note != "" {
			p.line("             %s", c.Note)
		}
	}
}

func perHit(n *stall.Num) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprintf("%.2f", float64(*n))
}

// trustWords are how far the numbers carry; what nobody counted is a question
// mark.
func trustWords(t *stall.Trust) []string {
	count := func(n *int) string {
		if n == nil {
			return "?"
		}
		return fmt.Sprint(*n)
	}
	percent := func(n *stall.Num) string {
		if n == nil {
			return "?"
		}
		return n.String() + "%"
	}
	waves := "occupancy unknown"
	switch o := &t.Occupancy; {
	case o.Which == "measured" && o.PeakPerCU != nil:
		waves = count(o.PeakPerCU) + " waves/CU measured"
	case o.Which == "estimate" && o.Estimate != nil:
		waves = count(o.Estimate) + " waves/CU estimated, not measured"
	}
	return []string{
		fmt.Sprintf("waves %s of %s", count(t.WaveFiles), count(t.WavesListed)),
		"executed " + percent(t.ExecutedPct), "mapped " + percent(t.MappedPct), waves,
		orDash(t.Dispatch), "decoder " + orUnknown(t.Decoder),
	}
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
