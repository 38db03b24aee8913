package main

import (
	"path/filepath"

	"kdapilot/engine/journal"
	"kdapilot/engine/text"
	"kdapilot/probes/store"
)

// showJournal prints the journal; with verify it ends with 1 when the chain
// does not hold.
func showJournal(s streams, dir string, verify, asJSON bool) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	c, o, err := store.New(abs).Journal()
	if err != nil {
		return err
	}
	if !o.Status.Known() {
		return exitWith(exitNothing, "no journal: %s", o.Path)
	}
	if asJSON {
		err = writeJSON(s.out, map[string]any{"records": c.Records, "tip": c.Tip.Hash, "torn": c.Torn, "broken": brokenJSON(c.Broken), "path": o.Path})
	} else {
		err = printJournal(s, c, o.Path)
	}
	if err == nil && c.Broken != nil && verify {
		return exitWith(exitRed, "%s:%d: %s", o.Path, c.Broken.Line, text.Line(c.Broken.Why))
	}
	return err
}

func printJournal(s streams, c journal.Chain, path string) error {
	p := printer{w: s.out}
	for _, r := range c.Records {
		p.line("%4d  %s  %-13s %-2s %s  %s", r.Seq, r.At.Format("2006-01-02 15:04:05"), text.Line(r.Kind), text.Line(r.Gate), shortSHA(text.Line(r.Seal)), text.Line(r.Text))
	}
	if c.Torn {
		p.line("the last line is unfinished and not part of the chain")
	}
	if b := c.Broken; b != nil {
		p.line("%s:%d: chain broken: %s; what follows is not shown", path, b.Line, b.Why)
	} else {
		p.line("%s: %d records, chain holds, tip %s", path, len(c.Records), c.Tip.Hash[:12])
	}
	return p.err
}

// brokenJSON is null while the chain holds.
func brokenJSON(b *journal.Broken) any {
	if b == nil {
		return nil
	}
	return map[string]any{"line": b.Line, "why": b.Why}
}
