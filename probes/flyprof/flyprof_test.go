package flyprof

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kdapilot/engine/stall"
	"kdapilot/probes/att"
)

const (
	twoKernels = "../att/testdata/two_kernels/ui_output_agent_1_dispatch_2"
	otherOrder = "../att/testdata/other_order/ui_output_agent_1_dispatch_2"
)

// bundle makes a bundle: a map from dispatch path below it to the trace that is
// copied there, and artifacts by name.
func bundle(t *testing.T, traces, artifacts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for at, from := range traces {
		if err := os.CopyFS(filepath.Join(dir, at), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range artifacts {
		write(t, filepath.Join(dir, name), content)
	}
	return dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, path string, o Options) stall.Analysis {
	t.Helper()
	a, err := Load(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func kinds(a *stall.Analysis) string {
	var out []string
	for _, f := range a.Findings {
		k := f.Kind
		if f.Bad {
			k += "!"
		}
		out = append(out, k)
	}
	return strings.Join(out, " ")
}

func TestPickDispatch(t *testing.T) {
	const nine, ten = "att/big/ui_output_agent_1_dispatch_9", "att/big/ui_output_agent_1_dispatch_10"
	capture := func(kept string) map[string]string {
		return map[string]string{"capture.json": `{"kernel":"first_0","tags":{"big":{"tag":"big","kept_dir":"` + kept + `","waves":4}}}`}
	}
	for _, c := range []struct {
		name      string
		traces    map[string]string
		artifacts map[string]string
		tag       string
		want      string
		says      string
	}{
		{"last in string order", map[string]string{nine: twoKernels, ten: twoKernels}, nil, "", nine, ""},
		{"kept wins", map[string]string{nine: twoKernels, ten: twoKernels}, capture(ten), "", ten, "dispatch-choice"},
		{"kept agrees", map[string]string{nine: twoKernels, ten: twoKernels}, capture(nine), "", nine, ""},
		{"kept is missing", map[string]string{ten: twoKernels}, capture(nine), "", ten, "kept-dir-missing"},
		{"kept leaves the bundle", map[string]string{ten: twoKernels}, capture("../../etc"), "", ten, "kept-dir-outside!"},
		{"other tag asked", map[string]string{nine: twoKernels, "att/small/ui_output_agent_1_dispatch_1": twoKernels}, nil, "small", "att/small/ui_output_agent_1_dispatch_1", ""},
		{"tag absent", map[string]string{"att/small/ui_output_agent_1_dispatch_1": twoKernels}, nil, "big", "att/small/ui_output_agent_1_dispatch_1", "tag-absent!"},
		{"directly under att", map[string]string{"att/ui_output_agent_1_dispatch_1": twoKernels}, nil, "", "att/ui_output_agent_1_dispatch_1", ""},
		{"folder of dispatches", map[string]string{"ui_output_agent_1_dispatch_1": twoKernels, "ui_output_agent_1_dispatch_2": twoKernels}, nil, "", "ui_output_agent_1_dispatch_2", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := bundle(t, c.traces, c.artifacts)
			a := load(t, dir, Options{Tag: c.tag})
			rel, err := filepath.Rel(dir, a.Dir)
			if err != nil || rel != c.want || a.Used != stall.Computed {
				t.Errorf("analysed %s, used %s (%v), want %s", rel, a.Used, err, c.want)
			}
			if c.says != "" && !strings.Contains(kinds(&a), c.says) {
				t.Errorf("findings %s, want %s", kinds(&a), c.says)
			}
			if c.says == "" && (strings.Contains(kinds(&a), "dispatch-choice") || strings.Contains(kinds(&a), "!")) {
				t.Errorf("findings %s", kinds(&a))
			}
		})
	}
}

func TestLoadStages(t *testing.T) {
	a := load(t, twoKernels, Options{})
	if !a.WaitsPending || !a.Trust.WaitsPending || a.Bubbles.Hotspots[0].Producers != nil || !strings.Contains(strings.Join(a.Trust.Caveats, "|"), "not read yet") {
		t.Errorf("%+v", a.Trust)
	}
	b, err := AddWaits(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	if b.WaitsPending || len(b.Bubbles.Hotspots[0].Producers) != 1 || *b.Trust.WaveFiles != 4 || b.Trust.WavesBroken != 1 || a.Bubbles.Hotspots[0].Producers != nil {
		t.Errorf("%+v", b.Trust)
	}
	if !strings.Contains(kinds(&b), "label-counted") || !strings.Contains(kinds(&b), "lgkmcnt-is-scalar") {
		t.Errorf("findings %s", kinds(&b))
	}
	if s := b.Snippets["/w/repo/kernels/a.py:4 -> /w/repo/kernels/b.py:2"]; s.Line != 2 || s.File != "/w/repo/kernels/b.py" || len(s.Lines) != 3 {
		t.Errorf("%+v", b.Snippets)
	}
}

// stored returns the bubbles.json and report.json that belong to two_kernels.
func stored(t *testing.T) (bubbles, report string) {
	t.Helper()
	a := load(t, twoKernels, Options{Waits: true})
	a.Bubbles.DispatchDir = "ui_output_agent_1_dispatch_9"
	var b bytes.Buffer
	if err := stall.WriteJSON(&b, a.Bubbles); err != nil {
		t.Fatal(err)
	}
	r, err := json.Marshal(map[string]any{
		"kernel": "first_0", "bound_type": "latency", "headline": "h", "totals": a.Bubbles.Totals, "stall_taxonomy": a.Bubbles.Taxonomy,
		"recommendations": []any{}, "evidence_hotspots": a.Bubbles.Hotspots[:1],
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), string(r)
}

func TestStoredArtifacts(t *testing.T) {
	const at = "att/big/ui_output_agent_1_dispatch_9"
	bubbles, report := stored(t)
	other := strings.Replace(bubbles, `"total_stall": 300`, `"total_stall": 301`, 1)
	otherWaits := strings.Replace(bubbles, `"inst": "s_load_dwordx4 s[0:3], s[4:5], 0x0"`, `"inst": "s_load_dword s9"`, 1)
	trace := map[string]string{at: twoKernels}
	for _, c := range []struct {
		name       string
		traces     map[string]string
		artifacts  map[string]string
		used       stall.Used
		reportUsed stall.Used
		verdict    stall.Verdict
		says       string
	}{
		{"all agree", trace, map[string]string{"bubbles.json": bubbles, "report.json": report}, stall.FromBubbles, stall.FromReport, stall.Unverifiable, "bubbles-agree"},
		{"bubbles differ", trace, map[string]string{"bubbles.json": other}, stall.Computed, stall.Computed, stall.Inconsistent, "bubbles-differ!"},
		{"only the report agrees", trace, map[string]string{"bubbles.json": other, "report.json": report},
			stall.Computed, stall.FromReport, stall.Inconsistent, "bubbles-differ!"},
		{"waits differ", trace, map[string]string{"bubbles.json": otherWaits}, stall.FromBubbles, stall.Computed, stall.Unverifiable, "waits-incomplete"},
		{"report differs", trace, map[string]string{"report.json": strings.Replace(report, `"total_stall":300`, `"total_stall":1`, 1)},
			stall.Computed, stall.Computed, stall.Inconsistent, "report-differs!"},
		{"torn bubbles", trace, map[string]string{"bubbles.json": bubbles[:200]}, stall.Computed, stall.Computed, stall.Inconsistent, "bubbles-unreadable!"},
		{"torn capture", trace, map[string]string{"capture.json": `{"kernel":`}, stall.Computed, stall.Computed, stall.Inconsistent, "capture-unreadable!"},
		{"no trace", nil, map[string]string{"bubbles.json": bubbles, "report.json": report}, stall.FromBubbles, stall.FromReport, stall.Unverifiable, ""},
		{"report only", nil, map[string]string{"report.json": report}, stall.FromReport, stall.FromReport, stall.Unverifiable, "report-only"},
		{"other kernel", trace, map[string]string{"capture.json": `{"kernel":"third_0","tags":{"big":{"tag":"big","kept_dir":"` + at + `"}}}`},
			stall.Computed, stall.Computed, stall.Inconsistent, "kernel-differs!"},
		{"bubbles of another dispatch", nil, map[string]string{"bubbles.json": bubbles, "capture.json": `{"kernel":"first_0","tags":{"big":{"kept_dir":"att/big/ui_output_agent_1_dispatch_3"}}}`},
			stall.FromBubbles, stall.Computed, stall.Inconsistent, "bubbles-other-dispatch!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := bundle(t, c.traces, c.artifacts)
			a := load(t, dir, Options{Waits: true})
			if a.Used != c.used || a.Report.Used != c.reportUsed || a.Freshness.Verdict != c.verdict || !strings.Contains(kinds(&a), c.says) {
				t.Errorf("used %s, report %s, %s, findings %s", a.Used, a.Report.Used, a.Freshness.Verdict, kinds(&a))
			}
			if len(a.Bubbles.Hotspots) == 0 || a.WaitsPending {
				t.Errorf("%+v", a.Bubbles)
			}
		})
	}
}

// TestOtherProducers has all wave files, so the stored producers are wrong.
func TestOtherProducers(t *testing.T) {
	const at = "att/big/ui_output_agent_1_dispatch_9"
	bubbles, _ := stored(t)
	bubbles = strings.Replace(bubbles, `"inst": "s_load_dwordx4 s[0:3], s[4:5], 0x0"`, `"inst": "s_load_dword s9"`, 1)
	dir := bundle(t, map[string]string{at: twoKernels}, map[string]string{"bubbles.json": bubbles})
	if err := os.Remove(filepath.Join(dir, at, "se0_sm2_sl0_wv0.json")); err != nil {
		t.Fatal(err)
	}
	a := load(t, dir, Options{Waits: true})
	if a.Used != stall.Computed || !strings.Contains(kinds(&a), "waits-differ!") || a.Freshness.Verdict != stall.Inconsistent ||
		a.Bubbles.Hotspots[0].Producers[0].Inst != "s_load_dwordx4 s[0:3], s[4:5], 0x0" {
		t.Errorf("used %s, %s, %+v", a.Used, kinds(&a), a.Bubbles.Hotspots[0])
	}
}

func TestUnreadableTraceFallsBack(t *testing.T) {
	bubbles, _ := stored(t)
	dir := bundle(t, nil, map[string]string{"bubbles.json": bubbles, "att/big/ui_output_agent_1_dispatch_9/code.json": `{"code":[["s_`})
	a := load(t, dir, Options{Waits: true})
	if a.Used != stall.FromBubbles || !strings.Contains(kinds(&a), "trace-unreadable!") || a.Freshness.Verdict != stall.Inconsistent {
		t.Errorf("used %s, %+v, %s", a.Used, a.Freshness, kinds(&a))
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f", "x.json"), `{"ok":false,"command":"bubbles","error":{"code":"NO_GPU","exitCode":69,"message":"no device","help":"h"}}`)
	write(t, filepath.Join(dir, "f", "y.json"), `{"hello":1}`)
	write(t, filepath.Join(dir, "failed", "capture.json"), `{"kernel":"k","tags":{"big":{"tag":"big","error":"empty_att"}}}`)
	for _, c := range []struct {
		path, code string
		exit       int
	}{
		{"absent", att.NoArtifact, 66}, {"f", att.NoArtifact, 66}, {"f/x.json", "NO_GPU", 69}, {"f/y.json", att.BadArgs, 78}, {"failed", att.NoArtifact, 66},
	} {
		_, err := Load(context.Background(), filepath.Join(dir, c.path), Options{})
		var e *att.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Exit != c.exit || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	if _, err := Load(context.Background(), filepath.Join(dir, "failed"), Options{}); !strings.Contains(err.Error(), "empty_att") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Load(ctx, twoKernels, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestFreshnessAgainstWorktree(t *testing.T) {
	source := func(name string) string {
		b, err := os.ReadFile(filepath.Join(twoKernels, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	a, b := source("source_0_a.py"), source("source_1_b.py")
	for _, c := range []struct {
		name string
		root string
		tree map[string]string
		age  time.Duration
		want stall.Verdict
		says string
	}{
		{"same", "repo", map[string]string{"kernels/a.py": a, "kernels/b.py": b}, 0, stall.Fresh, "2 source files are byte for byte"},
		{"changed", "repo", map[string]string{"kernels/a.py": a, "kernels/b.py": b + "\n"}, 0, stall.StaleSource, "kernels/b.py changed"},
		{"removed", "repo", map[string]string{"kernels/a.py": a}, 0, stall.StaleSource, "b.py is gone"},
		{"old", "repo", map[string]string{"kernels/a.py": a, "kernels/b.py": b}, time.Nanosecond, stall.StaleAge, "older than"},
		{"by name only", "x", map[string]string{"a.py": "other"}, 0, stall.Unverifiable, "only the file name matches"},
		{"elsewhere", "x", map[string]string{"k.py": a}, 0, stall.Unverifiable, "not in the worktree"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := filepath.Join(t.TempDir(), c.root)
			for p, content := range c.tree {
				write(t, filepath.Join(tree, p), content)
			}
			got := load(t, twoKernels, Options{Worktree: tree, MaxAge: c.age}).Freshness
			if got.Verdict != c.want || !strings.Contains(strings.Join(got.Reasons, "|"), c.says) || len(got.Files) != 3 {
				t.Errorf("%+v", got)
			}
			if c.want == stall.Fresh && (got.Files[0].Worktree != "kernels/a.py" || got.Files[0].TraceSHA != got.Files[0].WorktreeSHA) {
				t.Errorf("%+v", got.Files)
			}
		})
	}
}

func TestQuestion(t *testing.T) {
	for name, c := range map[string]struct{ file, content, want string }{
		"sidecar":       {"kdapilot.json", `{"question":"is it the barrier?","commit":"abc"}`, "is it the barrier?"},
		"notes":         {"analysis/notes.md", "# notes\n- **Question:** waitcnt dependency\n", "waitcnt dependency"},
		"notes heading": {"analysis/notes.md", "# notes\n\n## Question\n\nLDS wait or bank conflict\n", "LDS wait or bank conflict"},
		"empty heading": {"analysis/notes.md", "## Question\n\n## Baseline\nx\n", ""},
		"broken":        {"kdapilot.json", `{`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := bundle(t, map[string]string{"att/ui_output_agent_1_dispatch_1": twoKernels}, map[string]string{c.file: c.content})
			if a := load(t, dir, Options{}); a.Question != c.want || (c.want != "") != (a.QuestionFrom != "") {
				t.Errorf("%q from %q", a.Question, a.QuestionFrom)
			}
		})
	}
}

func TestViewWithBase(t *testing.T) {
	v, err := LoadView(context.Background(), twoKernels, otherOrder, 5, Options{Waits: true})
	if err != nil {
		t.Fatal(err)
	}
	if v.Diff == nil || v.Diff.FloorPP != 5 || len(v.Diff.Classes) != 3 {
		t.Fatalf("%+v", v.Diff)
	}
	var b bytes.Buffer
	if err := stall.WriteJSON(&b, v); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"bubbles": {`, `"trust": {`, `"freshness": {`, `"diff": {`, `"used": "computed"`, `"findings": [`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s", want)
		}
	}
	for _, list := range []string{"findings", "reasons", "caveats", "files", "classes", "targets", "recommendations", "hotspots", "by_source"} {
		if strings.Contains(b.String(), `"`+list+`": null`) {
			t.Errorf("%s is null instead of a list", list)
		}
	}
}

func TestDiscover(t *testing.T) {
	tree := t.TempDir()
	if err := os.CopyFS(filepath.Join(tree, "profile/run-1/flyprof/att/big/ui_output_agent_1_dispatch_9"), os.DirFS(twoKernels)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(tree, "profile/run-1/flyprof/capture.json"), "{}")
	write(t, filepath.Join(tree, "profile/run-2/att/ui_output_agent_1_dispatch_1/code.json"), "{}")
	write(t, filepath.Join(tree, ".humanize/kdapilot/bundles/b1/bubbles.json"), "{}")
	write(t, filepath.Join(tree, "runs/r/report.json"), "{}")
	write(t, filepath.Join(tree, "elsewhere/capture.json"), "{}")
	old, now := time.Now().Add(-time.Hour), time.Now()
	for p, at := range map[string]time.Time{
		"profile/run-1/flyprof/capture.json": old, "profile/run-1/flyprof/att/big/ui_output_agent_1_dispatch_9/code.json": now.Add(time.Hour),
		".humanize/kdapilot/bundles/b1/bubbles.json": now, "profile/run-2/att/ui_output_agent_1_dispatch_1/code.json": old,
	} {
		if err := os.Chtimes(filepath.Join(tree, p), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(tree, filepath.Join(tree, "profile", "loop")); err != nil {
		t.Fatal(err)
	}
	p, err := Discover(context.Background(), tree)
	if err != nil || p.Cut {
		t.Fatal(p, err)
	}
	var got []string
	for _, f := range p.Found {
		rel, err := filepath.Rel(tree, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rel+"="+string(f.Kind))
	}
	want := "profile/run-1/flyprof=bundle .humanize/kdapilot/bundles/b1=bundle profile/run-2/att=dispatches"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("found %s\nwant  %s", s, want)
	}
	if f := p.Found[0]; !f.HasCapture || !f.HasTrace || f.HasBubbles || f.HasReport {
		t.Errorf("%+v", f)
	}
	for _, c := range []struct{ folder, want string }{
		{"profile/run-2/att", "profile/run-2/att"}, {"elsewhere", "elsewhere"}, {"profile/run-2/att/ui_output_agent_1_dispatch_1", "profile/run-2/att/ui_output_agent_1_dispatch_1"},
	} {
		p, err := DiscoverIn(context.Background(), filepath.Join(tree, c.folder))
		if err != nil || len(p.Found) != 1 || p.Found[0].Path != filepath.Join(tree, c.want) {
			t.Errorf("in %s: %+v %v", c.folder, p, err)
		}
	}
	if p, err := DiscoverIn(context.Background(), tree); err != nil || len(p.Found) != 4 {
		t.Errorf("in the whole tree: %d places %v", len(p.Found), err)
	}
	if p, err := Discover(context.Background(), filepath.Join(tree, "none")); err != nil || len(p.Found) != 0 {
		t.Errorf("%+v %v", p, err)
	}
}

func TestRun(t *testing.T) {
	r, err := ParseRun([]byte(`{"kernel":"k","steps":{"tile":"memory-bound","doctor":"ready","odd":"x"},"warnings":["w\u001b[2J"]}`))
	if err != nil || len(r.Steps) != 2 || r.Steps[0].Name != "doctor" || r.StoppedAt() != "capture" || r.Warnings[0] != "w" {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := ParseRun([]byte("{\n\"steps\": [1]}")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
}

func TestEnvelopeErrors(t *testing.T) {
	for in, says := range map[string]string{
		"": "printed nothing", "usage: flyprof": "line 1", `{}`: `no "ok"`, `{"ok":true}`: `no "data"`, `{"ok":false}`: `no "error"`,
		"{\"ok\":true,\n\"data\":{}": "line 2",
	} {
		if _, err := ParseEnvelope([]byte(in)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", in, err)
		}
	}
	e, err := ParseEnvelope([]byte(`{"ok":true,"command":"bubbles","data":{"totals":{},"stall_taxonomy":{"by_class":{}}},"warnings":[],"truncated":{"hotspots_capped_at":25,"instructions_total":996}}`))
	if err != nil || e.InstructionsTotal != 996 {
		t.Fatal(e, err)
	}
	if b, err := e.Bubbles(); err != nil || b.Hotspots == nil {
		t.Errorf("%+v %v", b, err)
	}
}
