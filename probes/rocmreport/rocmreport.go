// Package rocmreport finds the run folders of the rocm-report skill and reads
// their REPORT.md: which kernel, and the one hypothesis for the next edit.
//
// Guarantees: reading is bounded in size and count; a report of another tool is
// never taken for one; what makes a report weaker than it looks is listed with
// it.
//
// What may not enter: whether a hypothesis is true.
package rocmreport

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kdapilot/engine/profile"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

const (
	maxReports = 200
	maxSize    = 1 << 20
	maxText    = 400 // bytes of a hypothesis
)

// Find reads the reports in profile/* below root, newest first.
func Find(ctx context.Context, root string) []profile.Report {
	dir := filepath.Join(root, "profile")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []profile.Report
	for _, e := range entries[:min(len(entries), 5*maxReports)] {
		if ctx.Err() != nil || len(out) == maxReports {
			break
		}
		if !e.IsDir() {
			continue
		}
		if r, ok := read(root, filepath.Join(dir, e.Name())); ok {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b profile.Report) int { return b.Origin.ModTime.Compare(a.Origin.ModTime) })
	return out
}

func read(root, dir string) (profile.Report, bool) {
	b, o, err := readfile.Hashed(filepath.Join(dir, "REPORT.md"), maxSize)
	if err != nil {
		return profile.Report{}, false
	}
	r, ok := Parse(b)
	if !ok {
		return r, false
	}
	r.Dir, r.Origin = dir, o
	if r.Name, err = filepath.Rel(root, dir); err != nil {
		r.Name = dir
	}
	var meta struct {
		Created string `json:"created_at"`
	}
	b, _, err = readfile.All(filepath.Join(dir, "analysis", "run_metadata.json"), maxSize)
	if err == nil && json.Unmarshal(b, &meta) == nil {
		r.Created = text.Clip(text.Line(meta.Created), 40)
	} else {
		r.Problems = append(r.Problems, "no analysis/run_metadata.json: the folder was made by hand")
	}
	for what, p := range map[string]string{"before run": r.Before, "after run": r.After} {
		if looksLikePath(p) && !there(root, dir, p) {
			r.Problems = append(r.Problems, what+" is not there: "+p)
		}
	}
	slices.Sort(r.Problems)
	return r, true
}

func looksLikePath(p string) bool { return strings.Contains(p, "/") && !strings.Contains(p, " ") }

func there(root, dir, p string) bool {
	for _, at := range []string{filepath.Join(root, p), filepath.Join(dir, p), p} {
		if _, err := os.Stat(at); err == nil {
			return true
		}
	}
	return false
}

var (
	reField = regexp.MustCompile(`^[-*\s]*\*\*([A-Za-z /]+?):?\*\*:?\s*(.*)$`)
	rePlain = regexp.MustCompile(`^[-*\s]*([A-Za-z /]+?):\s*(.*)$`)
	rePath  = regexp.MustCompile(`[A-Za-z0-9_.~-]+(?:/[A-Za-z0-9_.~-]+)+|[0-9]{8}-[0-9]{6}-[A-Za-z0-9_.-]+`)
	reItem  = regexp.MustCompile(`^\s{0,3}(?:[-*+]|[0-9]{1,3}[.)])\s+\S`)
)

// Parse reads a REPORT.md; ok is false when it is not one of the skill.
func Parse(b []byte) (r profile.Report, ok bool) {
	r.Problems = []string{}
	section, fenced := "", false
	var claim []string
	items, quotes, inQuote := 0, 0, false
	n := 0
	for raw := range strings.Lines(string(b)) {
		n++
		line := text.Line(strings.TrimRight(raw, "\r\n"))
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") {
			fenced = !fenced
			continue
		}
		if !ok {
			if title, is := strings.CutPrefix(trimmed, "# "); is {
				if !strings.HasSuffix(title, "ROCm Profiling Report") {
					return r, false
				}
				ok = true
			}
			continue
		}
		for _, m := range rePath.FindAllString(line, 20) {
			if len(r.Mentions) < 500 {
				r.Mentions = append(r.Mentions, m)
			}
		}
		if !fenced && strings.HasPrefix(trimmed, "## ") {
			section = trimmed[3:]
			continue
		}
		switch {
		case section == "":
			field(&r, trimmed)
		case strings.HasPrefix(section, "4."):
			if trimmed == "" || strings.HasPrefix(trimmed, "#") || fenced {
				inQuote = false
				continue
			}
			if r.Line == 0 {
				r.Line = n
			}
			quote := strings.HasPrefix(trimmed, ">")
			switch {
			case reItem.MatchString(line):
				items++
			case quote && !inQuote:
				quotes++
			}
			inQuote = quote
			claim = append(claim, strings.TrimLeft(trimmed, ">-*+ "))
		case strings.HasPrefix(section, "5."):
			plan(&r, trimmed)
		}
	}
	r.Hypothesis = text.Clip(strings.Join(claim, " "), maxText)
	switch {
	case r.Hypothesis == "":
		r.Problems = append(r.Problems, "section 4 holds no hypothesis")
	case items > 1 || quotes > 1:
		r.Claims = max(items, quotes)
		r.Problems = append(r.Problems, "section 4 holds more than one claim")
	default:
		r.Claims = 1
	}
	return r, ok
}

// field takes one of the bold lines under the title.
func field(r *profile.Report, line string) {
	m := reField.FindStringSubmatch(line)
	if m == nil {
		return
	}
	v := text.Clip(strings.Trim(m[2], "` "), 200)
	switch strings.ToLower(strings.TrimSpace(m[1])) {
	case "kernel":
		r.Kernel = v
	case "gpu":
		r.GPU = v
	case "date":
		r.Date = v
	}
}

// plan takes a line of the retest plan.
func plan(r *profile.Report, line string) {
	m := reField.FindStringSubmatch(line)
	if m == nil {
		m = rePlain.FindStringSubmatch(line)
	}
	if m == nil {
		return
	}
	v := text.Clip(strings.Trim(m[2], "` "), 200)
	switch strings.ToLower(strings.TrimSpace(m[1])) {
	case "before run":
		r.Before = v
	case "after run":
		r.After = v
	}
}
