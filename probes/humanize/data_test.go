package humanize

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
)

// dataDir finds the sample data, or skips loudly.
func dataDir(t testing.TB) string {
	t.Helper()
	base := os.Getenv("KDAPILOT_DATA")
	if base == "" {
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				break
			}
			if dir == filepath.Dir(dir) {
				t.Fatal("no go.mod above the test")
			}
			dir = filepath.Dir(dir)
		}
		base = filepath.Join(dir, "..", "shared", "data")
	}
	dir := filepath.Join(base, "humanize")
	if _, err := os.Stat(filepath.Join(dir, "expected.json")); err != nil {
		t.Skipf("SKIPPED: no Humanize sample data at %s; set KDAPILOT_DATA to the data folder to run the 55 snapshots", dir)
	}
	return dir
}

// copyTree copies a snapshot with the file times of its mtimes.tsv.
func copyTree(t testing.TB, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(from, "mtimes.tsv"))
	if err != nil {
		return to
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		sec, path, ok := strings.Cut(sc.Text(), "\t")
		s, err := strconv.ParseFloat(sec, 64)
		if !ok || err != nil {
			continue
		}
		at := time.UnixMilli(int64(s * 1000))
		if err := os.Chtimes(filepath.Join(to, path), at, at); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return to
}

// fakeProcesses answers that the process of every log named by suffix lives.
type fakeProcesses struct {
	suffix string
	asked  int
}

func (f *fakeProcesses) Writers(_ context.Context, paths []string) ([]Writer, error) {
	f.asked++
	var out []Writer
	for _, p := range paths {
		if f.suffix != "" && strings.HasSuffix(p, f.suffix) {
			out = append(out, Writer{PID: 4711, Path: p, Stderr: true})
		}
	}
	return out, nil
}

func TestSnapshots(t *testing.T) {
	dir := dataDir(t)
	b, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want []map[string]any
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) < 55 {
		t.Fatalf("%d snapshots expected in the data, found %d", 55, len(want))
	}
	for _, w := range want {
		name := w["snapshot"].(string)
		t.Run(name, func(t *testing.T) { checkSnapshot(t, filepath.Join(dir, name), w) })
	}
}

func checkSnapshot(t *testing.T, from string, want map[string]any) {
	root := copyTree(t, from)
	procs := &fakeProcesses{}
	switch want["phase"] {
	case "awaiting-summary-review":
		procs.suffix = "codex-run.log"
	case "awaiting-code-review":
		procs.suffix = "codex-review.log"
	}
	set, err := Scan(context.Background(), root, Options{CacheRoot: t.TempDir(), Processes: procs})
	if err != nil {
		t.Fatal(err)
	}
	var names []any
	for _, l := range set.Loops {
		names = append(names, l.Name)
	}
	if !reflect.DeepEqual(names, want["loops"]) {
		t.Errorf("loops = %v, want %v", names, want["loops"])
	}
	cur := set.Current()
	if cur == nil {
		t.Fatal("no current loop")
	}
	got := toMap(t, cur)
	// note is the data author's comment, snapshot and loops name the case.
	for _, k := range []string{"note", "snapshot", "loops"} {
		delete(want, k)
	}
	compare(t, "", got, want)
}

func toMap(t *testing.T, v any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// compare wants every expected key; more keys are ours.
func compare(t *testing.T, at string, got, want any) {
	t.Helper()
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s: got %v, want an object", at, got)
			return
		}
		for k, v := range w {
			gv, there := g[k]
			if !there {
				t.Errorf("%s.%s: missing, want %v", at, k, v)
				continue
			}
			compare(t, at+"."+k, gv, v)
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			t.Errorf("%s: got %v, want %v", at, got, want)
			return
		}
		for i := range w {
			compare(t, at+"["+strconv.Itoa(i)+"]", g[i], w[i])
		}
	default:
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", at, got, want)
		}
	}
}

func TestSynthetic(t *testing.T) {
	dir := filepath.Join(dataDir(t), "synthetic")
	var want struct {
		Trackers map[string]map[string]any `json:"trackers"`
		Reviews  map[string]map[string]any `json:"reviews"`
		Lags     map[string]any            `json:"state-lags-files"`
		States   map[string]map[string]any `json:"state-files"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	read := func(t *testing.T, parts ...string) []byte {
		b, err := os.ReadFile(filepath.Join(append([]string{dir}, parts...)...))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, w := range want.Trackers {
		t.Run("tracker/"+name, func(t *testing.T) { checkTracker(t, read(t, "trackers", name), w) })
	}
	for name, w := range want.Reviews {
		t.Run("review/"+name, func(t *testing.T) { checkReview(t, read(t, "reviews", name), w) })
	}
	for name, w := range want.States {
		t.Run("state/"+name, func(t *testing.T) { checkState(t, read(t, "state-files", name), w) })
	}
	t.Run("state-lags-files", func(t *testing.T) {
		set, err := Scan(context.Background(), copyTree(t, filepath.Join(dir, "state-lags-files")), Options{CacheRoot: t.TempDir()})
		if err != nil || len(set.Loops) != 1 {
			t.Fatal(err, len(set.Loops))
		}
		l := set.Current()
		high, results := 0, 0
		for _, r := range l.Rounds {
			high = max(high, r.N)
			if r.Has("review-result") {
				results++
			}
		}
		compare(t, "", map[string]any{"state_round": float64(l.Round.N), "highest_round_on_disk": float64(high),
			"session_bound": l.SessionID != "", "review_results": float64(results)}, want.Lags)
		for _, id := range []string{"state-lags-files", "unbound-session"} {
			if !hasWarning(l, id) {
				t.Errorf("no warning %s in %+v", id, l.Warnings)
			}
		}
	})
}

func hasWarning(l *loop.Loop, id string) bool {
	for _, w := range l.Warnings {
		if w.ID == id {
			return true
		}
	}
	return false
}

func checkTracker(t *testing.T, b []byte, w map[string]any) {
	tr := loop.ParseTracker(b)
	var acs, status, verified []any
	for _, c := range tr.Criteria {
		acs = append(acs, c.ID)
	}
	for _, a := range tr.Active {
		status = append(status, strings.Trim(a.Status, "*"))
	}
	for _, v := range tr.VerifiedACs {
		verified = append(verified, v)
	}
	cells := 0
	if len(tr.Evolution) > 0 {
		cells = len(tr.Evolution[0].Cells)
	}
	active := tr.ActiveRows // as Humanize's monitor: completed and deferred rows leave, "done (…)" stays
	for _, a := range tr.Active {
		if s := strings.Trim(a.Status, "*"); s == "completed" || s == "deferred" {
			active--
		}
	}
	got := map[string]any{
		"acs": acs, "active_rows": float64(tr.ActiveRows), "status": status, "humanize_monitor_counts_active": float64(active),
		"open_for_a_reader": float64(tr.Open), "blocking_real": float64(tr.Blocking), "queued_real": float64(tr.Queued),
		"updated_round": float64(tr.UpdatedRound.N), "updated_by_review": tr.UpdatedByReview,
		"evolution_rows": float64(len(tr.Evolution)), "evolution_row_cells": float64(cells), "completed_acs": verified,
		"open_issues": float64(tr.OpenIssues), "blocking_table": len(tr.BlockingT) > 0, "bytes": float64(len(b)),
	}
	delete(w, "blocking_rows_shown_by_humanize") // a quirk of the peer that ours does not repeat
	compare(t, "", got, w)
}

func checkReview(t *testing.T, b []byte, w map[string]any) {
	code := loop.ParseCodeReview(b)
	r := loop.ParseSummaryReview(b)
	var marker any
	if r.Marker != "" {
		marker = string(r.Marker)
	}
	findings := []any{}
	for _, f := range code.Findings {
		findings = append(findings, f.Severity)
	}
	got := map[string]any{
		"verdict": string(r.Verdict), "verdict_humanize": string(r.Verdict), "verdict_lenient": string(r.VerdictLenient),
		"marker": marker, "acs_met": r.ACsMet.String() + "/" + r.ACsTotal.String(), "remaining_rounds_text": r.RemainingRounds,
		"reviewer_could_not_run": r.CouldNotRun != "", "findings": findings, "humanize_scan_hits": len(findings) > 0, "open_question": r.OpenQuestion,
	}
	delete(w, "why")
	compare(t, "", got, w)
}

func checkState(t *testing.T, b []byte, w map[string]any) {
	s, status, why := loop.ParseState("state.md", b)
	for k, v := range w {
		switch k {
		case "round", "max":
			compare(t, "."+k, toMap(t, s)[k], v)
		case "parse":
			switch v {
			case "unreadable, keep the last good state", "number out of range":
				if status != fact.Unreadable || !strings.HasPrefix(why, "state.md:") {
					t.Errorf("status %v (%s), want unreadable with file and line", status, why)
				}
			case "usable, flagged":
				if status != fact.Torn || why == "" {
					t.Errorf("status %v (%s), want torn with a reason", status, why)
				}
			default:
				t.Errorf("the data expects %q, which this test does not know", v)
			}
		case "note":
			switch {
			case strings.Contains(v.(string), "no front matter"):
				if status != fact.Unreadable || !strings.Contains(why, "carriage return") {
					t.Errorf("status %v (%s), want unreadable for CRLF", status, why)
				}
			case strings.Contains(v.(string), "escape"):
				if strings.ContainsRune(s.PlanFile, 0x1b) || s.PlanFile != "plans/plan.md" {
					t.Errorf("plan file %q", s.PlanFile)
				}
			case strings.Contains(v.(string), "body"):
				if status != fact.OK || !reflect.DeepEqual(s.Extra, []string{"strict_success", "loop_owner"}) {
					t.Errorf("status %v extra %v", status, s.Extra)
				}
			default:
				t.Errorf("the data notes %q, which this test does not know", v)
			}
		}
	}
}

func TestLegacy(t *testing.T) {
	dir := filepath.Join(dataDir(t), "legacy")
	for version, want := range map[string]struct {
		layout loop.Layout
		schema int // keys the gate misses
		unread []string
	}{
		"1.0.0":  {loop.Local, 4, []string{"plan_tracked", "base_branch", "session_id"}},
		"1.1.2":  {loop.Local, 2, []string{"base_branch", "session_id"}},
		"1.3.0":  {loop.RLCR, 2, []string{"base_branch"}},
		"1.5.1":  {loop.RLCR, 0, []string{"full_review_round"}},
		"1.8.0":  {loop.RLCR, 0, []string{"session_id"}},
		"1.9.4":  {loop.RLCR, 0, []string{"bitlesson_required"}},
		"1.12.1": {loop.RLCR, 0, []string{"bitlesson_required"}},
		"1.15.1": {loop.RLCR, 0, []string{"drift_status"}},
	} {
		t.Run(version, func(t *testing.T) {
			set, err := Scan(context.Background(), copyTree(t, filepath.Join(dir, version)), Options{CacheRoot: t.TempDir()})
			if err != nil || len(set.Loops) != 1 {
				t.Fatal(err, len(set.Loops))
			}
			l := set.Current()
			if l == nil || l.Layout != want.layout || l.Phase != loop.Implementing || l.Origin.Status != fact.OK {
				t.Fatalf("%+v", l)
			}
			if l.Round.String() != "0" || l.Max.String() != "12" || l.Model != "gpt-5.5" || !l.Privacy {
				t.Errorf("round %v max %v model %q privacy %v", l.Round, l.Max, l.Model, l.Privacy)
			}
			schema := 0
			for _, r := range l.NextStop {
				if r.Gate == "schema" {
					schema++
				}
			}
			if schema != want.schema {
				t.Errorf("%d schema refusals, want %d: %+v", schema, want.schema, l.NextStop)
			}
			for _, k := range want.unread {
				if l.Has(k) {
					t.Errorf("key %s is there", k)
				}
			}
			if hasWarning(l, "unbound-session") != l.Has("session_id") {
				t.Errorf("unbound warning: %+v", l.Warnings)
			}
			if !l.Tracker.Placeholder || l.Tracker.ActiveRows != 1 || len(l.Tracker.Criteria) != 4 {
				t.Errorf("tracker %+v", l.Tracker)
			}
		})
	}
}

func TestSkillData(t *testing.T) {
	set, err := Scan(context.Background(), copyTree(t, filepath.Join(dataDir(t), "skill", "00")), Options{CacheRoot: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range set.Consultations {
		got = append(got, c.Status+" "+c.ExitCode.String()+" "+c.Question)
	}
	want := []string{"open ? Still running", "empty_response 0 Empty answer", "timeout 124 Long question", "error 3 Compare ISA dumps", "success 0 Which scaling granularity should fp8 use?"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("consultations\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if set.Current() != nil || len(set.Loops) != 0 {
		t.Errorf("loops out of nothing: %+v", set.Loops)
	}
}

// TestNextStopData predicts the refusals that the real hook gave next.
func TestNextStopData(t *testing.T) {
	dir := dataDir(t)
	for snapshot, gate := range map[string]string{
		"complete/01-session-bound":                     "contract",
		"complete/02-blocked-contract-missing":          "contract tracker",
		"complete/03-round-0-written-no-contract":       "contract",
		"mid-loop-blocks/00-plan-modified":              "plan-differs",
		"mid-loop-blocks/01-plan-deleted":               "plan-missing",
		"mid-loop-blocks/04-summary-missing":            "summary",
		"max-iterations/00-last-round-open":             "round-limit",
		"verdict-missing/01-blocked-again-stale-result": "verdict",
		"verdict-ambiguous/00-blocked":                  "verdict",
		"complete/10-methodology-analysis":              "analysis",
	} {
		t.Run(snapshot, func(t *testing.T) {
			set, err := Scan(context.Background(), copyTree(t, filepath.Join(dir, snapshot)), Options{CacheRoot: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			var gates bytes.Buffer
			for _, r := range set.Current().NextStop {
				gates.WriteString(r.Gate + " ")
			}
			for _, g := range strings.Fields(gate) {
				if !strings.Contains(gates.String(), g) {
					t.Errorf("gates %q, want %s among them", gates.String(), g)
				}
			}
		})
	}
}
