package flyprof

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kdapilot/engine/stall"
	"kdapilot/probes/att"
)

// defaultTag is the tag that flyprof analyses when none is asked for.
const defaultTag = "big"

// Bounds of the search for a code.json below a folder.
const (
	searchDepth = 6
	searchDirs  = 4096
)

// place is what a path was found to be.
type place struct {
	// root holds the stored artifacts; "" when a bare dispatch directory was
	// asked for.
	root string
	// dispatch is the dispatch directory; "" when there is no decoded trace.
	dispatch string
	tag      string
	capture  *stall.Capture
	findings []stall.Finding
}

func (p *place) find(kind string, bad bool, path, text string) {
	p.findings = append(p.findings, stall.Finding{Kind: kind, Bad: bad, Path: path, Text: text})
}

// pick finds the dispatch as flyprof does: the folder itself if it holds a
// code.json; the last in string order of att/<tag>/ui_output_agent_*_dispatch_*;
// the same directly under att; else the last code.json anywhere below. Unlike
// flyprof it prefers the directory that capture.json says was kept, and says so
// when the two disagree.
func pick(ctx context.Context, dir, tag string) (place, error) {
	if att.HasCode(dir) {
		p := place{dispatch: dir, tag: tag}
		p.adopt(dir)
		return p, nil
	}
	p := place{root: dir, tag: tag}
	captures, o, ok, err := read(dir, "capture.json", ParseCapture)
	if err != nil {
		p.find("capture-unreadable", true, o.Path, line(err.Error()))
	}
	if ok && tag == "" {
		p.tag = oneTag(captures)
	}
	if p.tag == "" {
		p.tag = defaultTag
	}
	byOrder, exact, err := lastInOrder(ctx, dir, p.tag)
	if err != nil {
		return place{}, err
	}
	p.dispatch = byOrder
	if c, found := captures[p.tag]; found {
		p.capture = &c
		p.preferKept(dir, byOrder)
	} else if c, found := captures[""]; found {
		p.capture = &c
	}
	switch {
	case p.dispatch == "":
	case !exact && p.dispatch == byOrder:
		if t := tagOf(p.dispatch); t != "" && t != p.tag {
			if tag != "" {
				p.find("tag-absent", true, p.dispatch, "no trace with tag "+tag+"; analysed what is there, tag "+t)
			}
			p.tag = t
			p.capture = nil
			if c, found := captures[t]; found {
				p.capture = &c
			}
		} else if t == "" && p.capture == nil {
			p.tag = tag
		}
	}
	return p, nil
}

// adopt looks for the bundle around a dispatch directory (<bundle>/att/<tag>/<dir>
// or <bundle>/att/<dir>) to learn what capture.json says about it. Stored
// artifacts of that bundle are not taken: flyprof would not either.
func (p *place) adopt(dir string) {
	if t := tagOf(dir); p.tag == "" {
		p.tag = t
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return
	}
	for up := filepath.Dir(abs); up != filepath.Dir(up); up = filepath.Dir(up) {
		if filepath.Base(up) != "att" {
			if filepath.Base(filepath.Dir(up)) != "att" {
				return
			}
			continue
		}
		captures, _, ok, err := read(filepath.Dir(up), "capture.json", ParseCapture)
		if err != nil || !ok {
			return
		}
		if c, found := captures[p.tag]; found && filepath.Base(c.KeptDir) == filepath.Base(abs) {
			p.capture = &c
		}
		return
	}
}

// oneTag chooses among the tags of a capture: big, else the only one, else the
// first by name.
func oneTag(captures map[string]stall.Capture) string {
	if _, ok := captures[defaultTag]; ok {
		return defaultTag
	}
	var names []string
	for n := range captures {
		names = append(names, n)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// preferKept takes the directory that capture.json says was kept.
func (p *place) preferKept(dir, byOrder string) {
	c := p.capture
	switch {
	case c.Error != "":
		p.find("capture-failed", true, filepath.Join(dir, "capture.json"), "capture.json says tag "+p.tag+" failed: "+c.Error)
		return
	case c.KeptDir == "":
		return
	case !filepath.IsLocal(c.KeptDir):
		p.find("kept-dir-outside", true, filepath.Join(dir, "capture.json"), "kept_dir "+line(c.KeptDir)+" leaves the bundle; ignored")
		return
	}
	kept := filepath.Join(dir, c.KeptDir)
	switch {
	case !att.HasCode(kept) && byOrder != "":
		p.find("kept-dir-missing", false, kept, "capture.json kept "+line(c.KeptDir)+", which is not here; analysed "+line(filepath.Base(byOrder)))
	case !att.HasCode(kept):
		p.find("kept-dir-missing", false, kept, "the decoded trace that capture.json names is not here")
	case filepath.Clean(kept) != filepath.Clean(byOrder):
		p.find("dispatch-choice", false, kept, "capture.json kept "+line(filepath.Base(kept))+", flyprof bubbles would analyse "+
			line(filepath.Base(byOrder))+" (last in string order); analysed what capture.json kept")
		p.dispatch = kept
	}
}

// lastInOrder is flyprof's choice below a folder. exact says that it lies under
// att/<tag>.
func lastInOrder(ctx context.Context, dir, tag string) (found string, exact bool, err error) {
	for i, sub := range []string{filepath.Join(dir, "att", tag), filepath.Join(dir, "att")} {
		if last := lastDispatch(sub); last != "" {
			return last, i == 0, nil
		}
	}
	dirs := 0
	found, err = lastCode(ctx, dir, searchDepth, &dirs)
	return found, false, err
}

func lastDispatch(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range slices.Backward(entries) {
		if isDispatchName(e.Name()) && att.HasCode(filepath.Join(dir, e.Name())) {
			return filepath.Join(dir, e.Name())
		}
	}
	return ""
}

// isDispatchName matches ui_output_agent_*_dispatch_*.
func isDispatchName(name string) bool {
	rest, ok := strings.CutPrefix(name, "ui_output_agent_")
	return ok && strings.Contains(rest, "_dispatch_")
}

// lastCode walks down, last name first, and returns the first folder with a
// code.json it meets, which is the last in string order.
func lastCode(ctx context.Context, dir string, depth int, dirs *int) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if *dirs++; *dirs > searchDirs {
		return "", nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		entries = nil // unreadable or vanished: no trace to be had here
	}
	here := att.HasCode(dir)
	for _, e := range slices.Backward(entries) {
		if here && e.Name() < "code.json" {
			return dir, nil
		}
		if !e.IsDir() || depth == 0 {
			continue
		}
		found, err := lastCode(ctx, filepath.Join(dir, e.Name()), depth-1, dirs)
		if err != nil || found != "" {
			return found, err
		}
	}
	if here {
		return dir, nil
	}
	return "", nil
}

// tagOf reads the tag off a path <...>/<tag>/<dispatch dir>.
func tagOf(dispatch string) string {
	abs, err := filepath.Abs(dispatch)
	if err != nil {
		return ""
	}
	switch parent := filepath.Base(filepath.Dir(abs)); {
	case parent == "big", parent == "small":
		return parent
	case filepath.Base(filepath.Dir(filepath.Dir(abs))) == "att" && isDispatchName(filepath.Base(abs)):
		return line(parent)
	}
	return ""
}
