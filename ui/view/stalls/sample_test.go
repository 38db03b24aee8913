package stalls

import (
	"fmt"
	"testing"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/session"
	"kdapilot/engine/stall"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
	"kdapilot/ui/view/viewtest"
)

const file = "/src/kernels/flash_attn_gfx950.py"

// rowsOf is a made-up loop of a kernel: loads, waits on them, matrix
// instructions, a barrier. wait scales the vmcnt stalls.
func rowsOf(n int, wait float64) []stall.Row {
	body := []struct {
		isa   string
		line  int
		stall float64
	}{
		{"buffer_load_dwordx4 v[%d:%d], v3, s[8:11], 0 offen", 412, 40},
		{"buffer_load_dwordx4 v[%d:%d], v4, s[8:11], 0 offen offset:16", 413, 55},
		{"ds_read_b128 v[%d:%d], v9", 431, 12},
		{"s_waitcnt vmcnt(%d) lgkmcnt(%d)", 585, 900 * wait},
		{"v_mfma_f32_32x32x16_bf16 v[%d:%d], v[4:7], v[12:15], v[16:31]", 601, 120},
		{"s_waitcnt lgkmcnt(%d) ; %d", 590, 160},
		{"v_exp_f32_e32 v%d, v%d", 622, 8},
		{"s_barrier ; %d %d", 640, 210},
		{"s_waitcnt vmcnt(%d) ; %d", 587, 400 * wait},
		{"v_add_f32_e32 v%d, v%d, v2", 0, 3},
	}
	rows := make([]stall.Row, 0, n)
	for i := range n {
		b := body[i%len(body)]
		k := i / len(body)
		r := stall.Row{ISA: fmt.Sprintf(b.isa, 4*k%200, 4*k%200+3), Line: int64(i + 2), CodeObj: 1, Addr: int64(0x2000 + 8*i), Hit: 1024}
		if b.line > 0 {
			r.Source = fmt.Sprintf("%s:%d", file, b.line+k%3)
		}
		r.Stall = int64(b.stall*1024) / int64(1+k)
		r.Latency = r.Stall + 4*r.Hit
		r.Class = stall.Classify(r.ISA)
		rows = append(rows, r)
	}
	return rows
}

// traced is an analysis with rows, producers and snippets.
func traced(path string, n int, wait float64) *stall.Analysis {
	a := viewtest.SampleAnalysis(path, true)
	a.Rows = rowsOf(n, wait)
	a.Bubbles = stall.Compute("ui_output_agent_56573_dispatch_87", a.Rows, stall.IdleWaves{})
	a.Waits = stall.Waits{Edges: map[int64][]int64{}, Files: 24}
	for i := range a.Rows {
		r := &a.Rows[i]
		if r.Class == stall.VMCnt && i >= 3 {
			a.Waits.Edges[r.Line] = []int64{a.Rows[i-3].Line, a.Rows[i-2].Line}
		}
	}
	a.Bubbles = a.Bubbles.WithWaits(a.Rows, a.Waits.Edges)
	a.Report = stall.Recommend("flash_attn_fwd_gfx950_0", &a.Bubbles, nil, nil)
	a.Snippets = map[string]stall.Snippet{}
	for _, s := range a.Bubbles.BySource {
		_, n, _ := stall.SplitSource(s.Source)
		sn := stall.Snippet{File: file, Line: n}
		for k := n - 2; k <= n+2; k++ {
			sn.Lines = append(sn.Lines, stall.SnippetLine{N: k, Text: fmt.Sprintf("    acc[%d] = mfma(q_frag, k_frag, acc[%d])", k%8, k%8), Hot: k == n})
		}
		a.Snippets[s.Source] = sn
	}
	a.QuestionFrom = "run manifest"
	a.Findings = []stall.Finding{{Kind: "bubbles-differ", Bad: true, Text: "bubbles.json says 3 other shares than the trace beside it; the trace is used"}}
	return a
}

// world is the sample with two traces of one kernel, an older bundle nobody
// opened and one that can not be read.
func world() *session.Snapshot {
	s := viewtest.Sample()
	s.Analyses[s.Bundles[0].Path] = traced(s.Bundles[0].Path, 120, 0.55)
	base := traced(s.Bundles[1].Path, 120, 1)
	base.Freshness = stall.Freshness{Verdict: stall.StaleAge, Reasons: []string{"captured 2 rounds ago"}, CapturedAt: viewtest.Now.Add(-29 * time.Hour)}
	base.Findings = nil
	s.Analyses[s.Bundles[1].Path] = base
	for i, name := range []string{"profile/fa-gfx950-20260819-170000/flyprof", "profile/fa-gfx950-20260818-110000/flyprof"} {
		path := s.Root + "/" + name
		s.Bundles = append(s.Bundles, session.Bundle{Path: path, Name: name, Kind: "bundle", ModTime: viewtest.Now.Add(-time.Duration(48+24*i) * time.Hour), HasTrace: i == 0, HasBubbles: true})
	}
	s.AnalysisErrs[s.Bundles[3].Path] = "bubbles.json: line 1: unexpected end of JSON input"
	return s
}

// weak is a capture that executed next to nothing, still without producers.
func weak() *session.Snapshot {
	s := world()
	a := *s.Analyses[s.Bundles[0].Path]
	little := stall.Num(0.3)
	a.Trust.ExecutedPct, a.Trust.Executed, a.Trust.Instructions, a.Trust.Weak = &little, 17, 4948, true
	a.Trust.Caveats = []string{"only 17 of 4948 instructions (0.3 %) were executed by the sampled waves: no verdict"}
	a.WaitsPending, a.Trust.WaitsPending, a.Waits = true, true, stall.Waits{}
	a.Bubbles = stall.Compute(a.Bubbles.DispatchDir, a.Rows, stall.IdleWaves{})
	a.Question, a.QuestionFrom = "", ""
	s.Analyses[s.Bundles[0].Path] = &a
	return s
}

// stored is a bundle with artifacts only.
func stored() *session.Snapshot {
	s := world()
	a := *s.Analyses[s.Bundles[0].Path]
	a.Rows, a.Waits, a.Dir, a.Used = nil, stall.Waits{}, "", stall.FromBubbles
	a.Trust.ExecutedPct, a.Trust.MappedPct, a.Trust.WaveFiles, a.Trust.WavesListed, a.Trust.Decoder = nil, nil, nil, nil, ""
	a.Trust.Occupancy = stall.Occupancy{Which: "unknown"}
	a.Snippets = nil
	s.Analyses[s.Bundles[0].Path] = &a
	return s
}

func simulated() *session.Snapshot {
	s := world()
	s.Simulated = true
	return s
}

// hostile has escape sequences, wide runes and absurd numbers in every text.
func hostile() *session.Snapshot {
	s := world()
	a := *s.Analyses[s.Bundles[0].Path]
	bad := "\x1b[2J\x1b]52;c;AAAA\x07 \u4e2d\u6587\tx\n|y" // clear the screen, take the clipboard
	a.Rows = append([]stall.Row(nil), a.Rows...)
	for i := range a.Rows {
		a.Rows[i].ISA = bad + a.Rows[i].ISA
		a.Rows[i].Source = bad + ":9"
		a.Rows[i].Hit = int64(i) * 1e15
	}
	a.Question, a.Trust.Kernel, a.Trust.Dispatch = bad, bad, bad
	a.Findings = []stall.Finding{{Bad: true, Text: bad}}
	a.Freshness.Reasons = []string{bad, bad}
	s.Analyses[s.Bundles[0].Path] = &a
	s.Bundles[0].Name = bad
	s.AnalysisErrs[s.Bundles[3].Path] = bad
	return s
}

func unread() *session.Snapshot { return &session.Snapshot{} }

func absent() *session.Snapshot {
	return &session.Snapshot{BundlesStatus: fact.Origin{Path: ".", Status: fact.OK}}
}

func unreadable() *session.Snapshot {
	return &session.Snapshot{BundlesStatus: fact.Origin{Path: ".", Status: fact.Unreadable, Why: "open .: permission denied"}}
}

func looks() []style.Look {
	return []style.Look{style.NewLook(style.Mono(), style.Unicode()), style.NewLook(style.Default(), style.Unicode()), style.NewLook(style.Light(style.Colours256), style.ASCII())}
}

func act(t *testing.T, s *Screen, e *view.Env, ids ...keys.ID) view.Ask {
	t.Helper()
	var ask view.Ask
	for _, id := range ids {
		var ok bool
		if ask, ok = s.Act(e, id); !ok {
			t.Fatalf("%s was not handled", id)
		}
	}
	return ask
}

// based are the keys that take the next older bundle as the base.
func based(more ...keys.ID) []keys.ID {
	return append([]keys.ID{keys.SetBase, keys.SetBase}, more...)
}
