package humanize

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/engine/text"
)

// cacheDir finds the folder that holds the reviewer's files of a loop: beside
// .humanize in a snapshot or capsule, else under the cache root.
func (r *reader) cacheDir() string {
	if beside := join(r.root, "cache", "humanize"); isDir(beside) {
		list, _, _, err := r.s.list(beside, 1000)
		for _, n := range list {
			if dir := join(beside, n, filepath.Base(r.l.Dir)); err == nil && text.Line(n) == n && isDir(dir) {
				return dir
			}
		}
	}
	base := r.s.opts.CacheRoot
	if base == "" {
		base = defaultCacheRoot()
	}
	if base == "" {
		return ""
	}
	return join(base, Sanitise(r.root), filepath.Base(r.l.Dir))
}

func isDir(path string) bool { ok, _, _ := isFolder(path); return ok }

// defaultCacheRoot is $XDG_CACHE_HOME/humanize or ~/.cache/humanize; "" when
// neither is known.
func defaultCacheRoot() string {
	if x := os.Getenv("XDG_CACHE_HOME"); x != "" {
		return join(x, "humanize")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return join(home, ".cache", "humanize")
}

// Sanitise turns a resolved root into the name of its cache folder: characters
// outside A-Za-z0-9._- become a dash, and runs of dashes are squeezed. It works
// on bytes with a high bit as sed does in a UTF-8 locale: one dash a character,
// squeezed anyway.
func Sanitise(root string) string {
	var b strings.Builder
	dash := false
	for _, c := range root {
		ok := c == '.' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
		if ok {
			b.WriteRune(c)
		} else if !dash {
			b.WriteByte('-')
		}
		dash = !ok
	}
	return b.String()
}

// attempts lists the cache folder and fills the reviewer starts of the rounds.
// It returns the folder's key.
func (r *reader) attempts() key {
	l := &r.l
	dir := r.cacheDir()
	l.CacheDir = dir
	if dir == "" {
		return key{}
	}
	list, _, k, err := r.s.list(dir, MaxDirEntries)
	if err != nil {
		return key{}
	}
	have := map[string]bool{}
	for _, n := range list {
		if _, rest, ok := roundPrefix(n); ok && isReviewerFile(rest) {
			l.CacheFiles = append(l.CacheFiles, n)
			have[n] = true
		}
	}
	for _, n := range l.CacheFiles {
		stem, ok := strings.CutSuffix(n, ".cmd")
		if !ok {
			continue
		}
		round, what, _ := roundPrefix(stem)
		rec := r.round(round)
		if rec == nil {
			continue
		}
		a := r.attempt(dir, stem, have)
		if strings.HasSuffix(what, "-review") {
			rec.CodeRun = a
		} else {
			rec.Run = a
		}
	}
	return k
}

func isReviewerFile(rest string) bool {
	stem, ext, _ := strings.Cut(rest, ".")
	return slices.Contains([]string{"codex-run", "codex-review", "gemini-run", "gemini-review"}, stem) &&
		slices.Contains([]string{"cmd", "log", "out"}, ext)
}

func (r *reader) attempt(dir, stem string, have map[string]bool) *loop.Attempt {
	a := &loop.Attempt{OutBytes: -1, LogBytes: -1}
	if have[stem+".log"] {
		a.Log = join(dir, stem+".log")
	}
	if !r.full {
		return a
	}
	a.Status = fact.OK
	cmd := join(dir, stem+".cmd")
	if st, err := look(cmd); err == nil {
		a.CmdModTime = st.mod
		// Only the head is wanted: the rest of a .cmd file is the whole prompt.
		a.Command, _ = parsed(&r.s.cache, cmd, "cmd", st, maxCmdFile, false, func(b []byte, _ *fact.Origin) loop.Command { return loop.ParseCommand(b) })
	}
	if a.Log != "" {
		if st, err := look(a.Log); err == nil {
			a.LogBytes, a.LogModTime = st.size, st.mod
		}
	}
	if have[stem+".out"] {
		if st, err := look(join(dir, stem+".out")); err == nil {
			a.OutBytes = st.size
		}
	}
	return a
}

// reviewer asks for live processes where the files say that one is possible.
func (r *reader) reviewer(ctx context.Context) {
	l := &r.l
	checked, why, pids := fact.NotRead, "", map[string]int{}
	if cand := l.Candidates(); len(cand) > 0 && r.s.opts.Processes != nil && l.Origin.Status.Known() {
		checked, why, pids = r.alive(ctx, cand)
	}
	l.SetReviewer(checked, why, func(log string) int { return pids[log] })
	r.missedFindings()
}

// alive maps log paths to the process that writes them.
func (r *reader) alive(ctx context.Context, cand []*loop.Attempt) (fact.Status, string, map[string]int) {
	real := map[string]string{} // resolved -> as listed
	var paths []string
	for _, a := range cand {
		p, err := filepath.EvalSymlinks(a.Log)
		if err != nil {
			continue
		}
		real[p] = a.Log
		paths = append(paths, p)
	}
	pids := map[string]int{}
	writers, err := r.s.opts.Processes.Writers(ctx, paths)
	if err != nil {
		return fact.Unreadable, text.Line(err.Error()), pids
	}
	for _, w := range writers {
		log, ok := real[w.Path]
		// Standard error is the log in both kinds of review; of several processes
		// that inherited it, the first one stands for all.
		if ok && w.Stderr && (pids[log] == 0 || w.PID < pids[log]) {
			pids[log] = w.PID
		}
	}
	return fact.OK, "", pids
}

// missedFindings looks into the log of the newest finished code review.
func (r *reader) missedFindings() {
	l := &r.l
	for i := len(l.Rounds) - 1; i >= 0; i-- {
		a := l.Rounds[i].CodeRun
		if a == nil || a.Log == "" {
			continue
		}
		if l.Reviewer.Open && l.Reviewer.Log == a.Log {
			return
		}
		st, err := look(a.Log)
		if err != nil {
			return
		}
		l.Reviewer.Missed, _ = parsed(&r.s.cache, a.Log, "missed", st, maxLogTail, true, func(b []byte, o *fact.Origin) []loop.Finding {
			missed := loop.MissedFindings(b, 1)
			if o.Size > int64(len(b)) {
				for i := range missed {
					missed[i].Line = 0 // counted from the middle of the file
				}
			}
			return missed
		})
		return
	}
}
