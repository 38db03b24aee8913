package humanize

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/engine/text"
)

// keptLoop is an ended loop as read, with what proves that it did not change.
type keptLoop struct {
	folder, state, tracker, cacheDir key
	readAt                           time.Time
	loop                             loop.Loop
	used                             int
}

// reader reads one loop folder.
type reader struct {
	s      *Scanner
	root   string
	l      loop.Loop
	stats  map[string]stat // known regular files by name
	newest bool
	full   bool // read summaries and contracts too
}

// loop reads one loop folder, or returns it as kept.
func (s *Scanner) loop(ctx context.Context, root string, p place, newest bool, sig loop.Signal) loop.Loop {
	if !newest {
		if l, ok := s.keptLoop(p.dir); ok {
			return l
		}
	}
	r := &reader{s: s, root: root, newest: newest, stats: map[string]stat{}}
	r.l = loop.Loop{Name: p.name, Dir: p.dir, Layout: p.layout, Markers: []string{}, Rounds: []loop.Round{}, CacheFiles: []string{}}
	at := time.Now()
	list, cut, folder, err := s.list(p.dir, MaxDirEntries)
	r.l.ListingCut = cut
	if err != nil {
		r.l.Origin = missing(p.dir, err)
		r.l.Origin.Status = fact.Unreadable
		return r.l
	}
	r.files(list)
	r.state()
	if newest && r.l.StateFile == "" {
		// The hook renames the state file: it may have moved between the listing
		// and the look at it. One more listing tells a rename from a loss.
		delete(s.lists, p.dir)
		if list, _, folder, err = s.list(p.dir, MaxDirEntries); err == nil {
			r.l.Rounds, r.l.RoundsDropped, r.stats = []loop.Round{}, 0, map[string]stat{}
			r.files(list)
			r.state()
		} else {
			r.l.Origin = missing(p.dir, err) // the names were known, the files are out of reach
			if r.l.Origin.Status == fact.Unreadable {
				return r.l
			}
		}
	}
	r.l.SignalPending = sig.Pending && filepath.Base(filepath.Dir(sig.StatePath)) == p.name
	if r.l.SignalPending {
		r.l.SignalSince = sig.Since
	}
	r.full = newest || r.l.Active() // what a person may look into right away
	r.markers()
	r.tracker()
	cacheKey := r.attempts()
	r.papers()
	r.reviews()
	if r.full {
		r.plan()
		r.reviewer(ctx)
	}
	if !newest && !r.l.Active() {
		s.kept[p.dir] = &keptLoop{folder: folder, state: r.stats[string(r.l.StateFile)].key, tracker: r.stats["goal-tracker.md"].key,
			cacheDir: cacheKey, readAt: at, loop: r.l, used: s.cache.scan}
		r.l.Rounds = slices.Clone(r.l.Rounds)
	}
	return r.l
}

// keptLoop returns an ended loop whose folder, state, tracker and cache folder
// are as they were.
func (s *Scanner) keptLoop(dir string) (loop.Loop, bool) {
	k := s.kept[dir]
	if k == nil || time.Unix(0, k.folder.mtime).Add(settled).After(k.readAt) {
		return loop.Loop{}, false
	}
	same := func(path string, want key) bool {
		info, err := os.Lstat(path)
		if err != nil {
			return want == key{}
		}
		return statOf(info).key == want
	}
	if !same(dir, k.folder) || !same(join(dir, "goal-tracker.md"), k.tracker) ||
		!same(k.loop.CacheDir, k.cacheDir) || (k.loop.StateFile != "" && !same(join(dir, string(k.loop.StateFile)), k.state)) {
		return loop.Loop{}, false
	}
	k.used = s.cache.scan
	l := k.loop
	l.Rounds = slices.Clone(l.Rounds)
	if names := s.lists[dir]; names != nil {
		names.used = s.cache.scan
	}
	return l, true
}

// files stats the known files and opens the round records.
func (r *reader) files(list []string) {
	for _, n := range list {
		round, kind, isRound := roundFile(n)
		if (!isRound && !knownFile(n)) || text.Line(n) != n {
			continue
		}
		st, err := look(join(r.l.Dir, n))
		if err != nil || !st.regular {
			continue
		}
		if st.mod.After(r.l.LastChange) {
			r.l.LastChange = st.mod
		}
		r.stats[n] = st
		if !isRound {
			continue
		}
		rec := r.round(round)
		if rec == nil {
			r.l.RoundsDropped++
			continue
		}
		rec.Files = append(rec.Files, kind)
		switch kind {
		case "prompt":
			rec.Opened = st.mod
		case "review-result":
			rec.Reviewed = st.mod
		case "summary":
			rec.Summary.Bytes, rec.Summary.ModTime = st.size, st.mod
		case "contract":
			rec.Contract.Bytes, rec.Contract.ModTime = st.size, st.mod
		}
	}
}

// round returns the record of round n, made when new; nil beyond the limit.
func (r *reader) round(n int) *loop.Round {
	i, ok := slices.BinarySearchFunc(r.l.Rounds, n, func(a loop.Round, n int) int { return a.N - n })
	if ok {
		return &r.l.Rounds[i]
	}
	if len(r.l.Rounds) >= MaxRounds {
		return nil
	}
	rec := loop.Round{N: n, Files: []string{}}
	rec.Summary.Status, rec.Contract.Status, rec.ReviewStatus.Status = fact.Missing, fact.Missing, fact.Missing
	r.l.Rounds = slices.Insert(r.l.Rounds, i, rec)
	return &r.l.Rounds[i]
}

var roundKinds = []string{"contract", "prompt", "review-prompt", "review-result", "summary", "todos"}

// roundFile splits round-N-kind.md.
func roundFile(name string) (n int, kind string, ok bool) {
	n, rest, ok := roundPrefix(name)
	kind, md := strings.CutSuffix(rest, ".md")
	return n, kind, ok && md && slices.Contains(roundKinds, kind)
}

// roundPrefix splits round-N-rest; N has at most six digits and no leading zero.
func roundPrefix(name string) (n int, rest string, ok bool) {
	rest, ok = strings.CutPrefix(name, "round-")
	if !ok {
		return 0, "", false
	}
	digits, rest, ok := strings.Cut(rest, "-")
	if !ok || digits == "" || len(digits) > 6 || (digits[0] == '0' && digits != "0") || strings.Trim(digits, "0123456789") != "" {
		return 0, "", false
	}
	n, err := strconv.Atoi(digits)
	return n, rest, err == nil
}

func knownFile(n string) bool {
	switch n {
	case "state.md", "goal-tracker.md", "plan.md", "finalize-summary.md", "methodology-analysis-report.md", "methodology-analysis-done.md":
		return true
	}
	return strings.HasSuffix(n, "-state.md") || slices.Contains(loop.MarkerNames(), n)
}

// stateFact is a parsed state file with its verdict on the bytes.
type stateFact struct {
	state  loop.State
	status fact.Status
	why    string
}

func (r *reader) state() {
	l := &r.l
	var have []string
	for n := range r.stats {
		have = append(have, n)
	}
	file, outcome := loop.PickState(have)
	l.StateFile, l.Outcome = loop.Word(text.Line(file)), loop.Word(text.Line(string(outcome)))
	l.State, _, _ = loop.ParseState("", nil)
	if file == "" {
		l.Origin = fact.Origin{Path: l.Dir, ReadAt: time.Now(), Status: fact.Missing, Why: "no state file in " + l.Name}
		return
	}
	v, o := parsed(&r.s.cache, join(l.Dir, file), "state", r.stats[file], maxState, false, func(b []byte, _ *fact.Origin) stateFact {
		s, status, why := loop.ParseState(file, b)
		return stateFact{s, status, why}
	})
	l.Origin = o
	if o.Status == fact.OK && l.Layout != loop.PR { // pull request loops have other keys
		l.State = v.state
		l.Origin.Status, l.Origin.Why = v.status, text.Line(v.why)
		l.Origin.Line = lineOf(v.why)
	}
}

// lineOf picks the number out of "name:N: …".
func lineOf(why string) int {
	_, rest, _ := strings.Cut(why, ":")
	digits, _, _ := strings.Cut(rest, ":")
	n, _ := strconv.Atoi(digits)
	return n
}

func (r *reader) markers() {
	l := &r.l
	for _, n := range loop.MarkerNames() {
		st, ok := r.stats[n]
		if !ok {
			continue
		}
		if l.MarkerSince == nil {
			l.MarkerSince = map[string]time.Time{}
		}
		l.Markers, l.MarkerSince[n] = append(l.Markers, n), st.mod
		path := join(l.Dir, n)
		switch n {
		case loop.MarkReviewing:
			l.BuildDone, _ = parsed(&r.s.cache, path, "build", st, maxMeta, false, func(b []byte, _ *fact.Origin) loop.Int { return loop.ParseBuildFinish(b) })
		case loop.MarkExitReason:
			l.OutcomeToCome, _ = parsed(&r.s.cache, path, "exit", st, maxMeta, false, func(b []byte, _ *fact.Origin) loop.Word {
				return loop.Word(text.Clip(text.Line(string(b[:min(len(b), 256)])), 64))
			})
		}
	}
	size := func(n string) int64 {
		if st, ok := r.stats[n]; ok {
			return st.size
		}
		return -1
	}
	l.Closing = loop.Closing{FinalizeSummary: size("finalize-summary.md"), AnalysisReport: size("methodology-analysis-report.md"), AnalysisDone: size("methodology-analysis-done.md")}
}

func (r *reader) tracker() {
	path := join(r.l.Dir, "goal-tracker.md")
	st, ok := r.stats["goal-tracker.md"]
	if !ok {
		r.l.Tracker.Origin = fact.Origin{Path: path, ReadAt: time.Now(), Status: fact.Missing, Why: "goal-tracker.md is not there"}
		return
	}
	t, o := parsed(&r.s.cache, path, "tracker", st, maxTracker, false, func(b []byte, _ *fact.Origin) loop.Tracker { return loop.ParseTracker(b) })
	if o.Status == fact.OK && !t.Whole {
		o.Status, o.Why = fact.Unreadable, "goal-tracker.md: no ## MUTABLE SECTION heading: damaged or mid-write"
	}
	t.Origin = o
	r.l.Tracker = t
}

// papers reads summaries and contracts, where someone will look at them.
func (r *reader) papers() {
	for i := range r.l.Rounds {
		rec := &r.l.Rounds[i]
		if rec.Has("summary") {
			keep := rec.Summary
			rec.Summary.Status = fact.NotRead
			if r.full {
				name := "round-" + strconv.Itoa(rec.N) + "-summary.md"
				v, o := parsed(&r.s.cache, join(r.l.Dir, name), "summary", r.stats[name], maxSummary, false, func(b []byte, _ *fact.Origin) loop.Summary { return loop.ParseSummary(b) })
				v.Status, v.Bytes, v.ModTime = o.Status, keep.Bytes, keep.ModTime
				rec.Summary = v
			}
		}
		if rec.Has("contract") {
			keep := rec.Contract
			rec.Contract.Status = fact.NotRead
			if r.full {
				name := "round-" + strconv.Itoa(rec.N) + "-contract.md"
				v, o := parsed(&r.s.cache, join(r.l.Dir, name), "contract", r.stats[name], maxSummary, false, func(b []byte, _ *fact.Origin) loop.Contract { return loop.ParseContract(b) })
				v.Status, v.Bytes, v.ModTime = o.Status, keep.Bytes, keep.ModTime
				rec.Contract = v
			}
		}
	}
}

func (r *reader) reviews() {
	for i := range r.l.Rounds {
		rec := &r.l.Rounds[i]
		if !rec.Has("review-result") {
			continue
		}
		name := "round-" + strconv.Itoa(rec.N) + "-review-result.md"
		kind := r.l.ReviewKind(rec.N)
		v, o := parsed(&r.s.cache, join(r.l.Dir, name), "review "+string(kind), r.stats[name], maxReview, false, func(b []byte, _ *fact.Origin) loop.Review {
			k := kind
			if k == "" {
				k = loop.GuessKind(b)
			}
			if k == loop.CodeReview {
				return loop.ParseCodeReview(b)
			}
			return loop.ParseSummaryReview(b)
		})
		rec.Review, rec.ReviewStatus = v, o
		if o.Status != fact.OK {
			rec.Review.Kind = kind
		}
	}
}

// plan compares the plan with its backup while the loop still depends on it.
func (r *reader) plan() {
	l := &r.l
	if string(l.StateFile) != "state.md" || l.ReviewStarted || l.PlanFile == "" || !l.Origin.Status.Known() {
		return
	}
	path := l.PlanFile
	if !filepath.IsAbs(path) {
		path = join(r.root, path)
	}
	rel, err := filepath.Rel(r.root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return // a copied tree whose plan lives elsewhere: not ours to read
	}
	file, fo := r.bytesOf(path)
	backup, bo := r.bytesOf(join(l.Dir, "plan.md"))
	l.Plan = loop.Plan{Backup: bo.Status, File: fo.Status}
	l.Plan.Differs = fo.Status == fact.OK && bo.Status == fact.OK && !bytes.Equal(file, backup)
}

func (r *reader) bytesOf(path string) ([]byte, fact.Origin) {
	st, err := look(path)
	if err != nil {
		return nil, missing(path, err)
	}
	return parsed(&r.s.cache, path, "bytes", st, maxPlan, false, func(b []byte, _ *fact.Origin) []byte { return b })
}
