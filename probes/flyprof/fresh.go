package flyprof

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/stall"
	"kdapilot/engine/text"
	"kdapilot/probes/att"
	"kdapilot/probes/readfile"
)

// maxCompared bounds one worktree file that is hashed.
const maxCompared = 16 << 20

// sources reads the copies beside the trace, compares them with the worktree
// and cuts the snippets.
func (l *loader) sources(ctx context.Context) error {
	in := stall.FreshnessInput{
		HasTrace: l.a.Rows != nil, HasWorktree: l.opts.Worktree != "",
		Now: l.opts.Now, MaxAge: l.opts.MaxAge, Since: l.opts.Since, CapturedAt: l.a.Origin.ModTime,
	}
	if l.a.Rows != nil {
		copies, err := (&att.Dispatch{Dir: l.a.Dir}).Sources(ctx)
		var e *att.Error
		switch {
		case errors.As(err, &e):
			l.note("side-file", e.Path, e.Error())
		case err != nil:
			return err
		}
		in.Checks, err = compare(ctx, copies, l.opts.Worktree)
		if err != nil {
			return err
		}
		l.snippets(copies)
	}
	l.a.Freshness = stall.JudgeFreshness(in)
	return nil
}

// compare hashes each source copy against the worktree file with the longest
// common end of its path.
func compare(ctx context.Context, copies []att.Source, worktree string) ([]stall.SourceCheck, error) {
	checks := make([]stall.SourceCheck, 0, len(copies))
	if worktree != "" {
		if abs, err := filepath.Abs(worktree); err == nil {
			worktree = abs
		}
	}
	prefix := ""
	for i := range copies {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := &copies[i]
		check := stall.SourceCheck{Traced: line(c.Traced), Copy: line(c.Copy), State: stall.NoCopy}
		if c.Origin.Status == fact.OK {
			check.TraceSHA, check.State = c.Origin.SHA256, stall.NotCovered
			if worktree != "" {
				against(&check, c, worktree, &prefix)
			}
		}
		checks = append(checks, check)
	}
	// A file that lay under the capture's own root and is no longer in the
	// worktree was removed or renamed; build output never is in a fresh clone.
	for i := range checks {
		c := &checks[i]
		rest, under := strings.CutPrefix(c.Traced, prefix)
		if c.State == stall.NotCovered && prefix != "" && under && !strings.HasPrefix(rest, "build") && !strings.Contains(rest, "site-packages") {
			c.State = stall.Gone
		}
	}
	return checks, nil
}

// against finds the worktree file for one copy and sets the state. prefix
// becomes the root of the capturing machine once one file told it.
func against(check *stall.SourceCheck, c *att.Source, worktree string, prefix *string) {
	parts := strings.Split(strings.Trim(c.Traced, "/"), "/")
	for i := range parts {
		rel := strings.Join(parts[i:], "/")
		if !filepath.IsLocal(rel) {
			continue
		}
		path := filepath.Join(worktree, rel)
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		_, o, err := readfile.Hashed(path, maxCompared)
		if err != nil {
			continue
		}
		check.Worktree, check.WorktreeSHA = text.Line(rel), o.SHA256
		// A bare file name is weak evidence unless what stood before it is the
		// worktree's own name.
		strong := i < len(parts)-1 || i > 0 && parts[i-1] == filepath.Base(worktree)
		switch {
		case o.SHA256 == c.Origin.SHA256:
			check.State = stall.Same
		case strong:
			check.State = stall.Different
		default:
			check.State = stall.NameOnly
		}
		if strong && *prefix == "" {
			*prefix = line("/" + strings.Join(parts[:i], "/") + "/")
		}
		return
	}
}

// Bounds of the text carried for snippets.
const (
	maxSnippetLine = 400
	maxLines       = 200_000
)

// snippets cuts the lines around the sources that the screens show.
func (l *loader) snippets(copies []att.Source) {
	for _, c := range copies {
		if c.Bytes == nil {
			continue
		}
		l.files = append(l.files, stall.SourceFile{Path: line(c.Traced), Lines: splitLines(c.Bytes)})
	}
	if len(l.files) == 0 {
		return
	}
	out := map[string]stall.Snippet{}
	add := func(source string) {
		if _, done := out[source]; done || source == "" {
			return
		}
		if s, ok := stall.FindSnippet(source, l.files); ok {
			for i := range s.Lines {
				s.Lines[i].Text = strings.TrimRight(text.Clean(text.Clip(s.Lines[i].Text, maxSnippetLine)), "\n")
			}
			out[source] = s
		}
	}
	for i := range l.a.Bubbles.Hotspots {
		add(l.a.Bubbles.Hotspots[i].Source)
	}
	for _, s := range l.a.Bubbles.BySource {
		add(s.Source)
	}
	l.a.Snippets = out
}

// splitLines cuts a source into raw lines; they are cleaned when shown.
func splitLines(b []byte) []string {
	lines := strings.SplitN(string(b), "\n", maxLines)
	if n := len(lines); n > 0 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return lines
}
