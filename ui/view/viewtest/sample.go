package viewtest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"kdapilot/engine/bench"
	"kdapilot/engine/fact"
	"kdapilot/engine/loop"
	"kdapilot/engine/repo"
	"kdapilot/engine/runs"
	"kdapilot/engine/session"
	"kdapilot/engine/stall"
)

// Sample is a hand-made snapshot of a task in its fourth round: a loop with
// reviews, two bundles, two row sets, a finished and a running run. It is built
// anew at every call, so a test may change it.
func Sample() *session.Snapshot {
	ok := func(path string, ago time.Duration) fact.Origin {
		return fact.Origin{Path: path, ReadAt: Now, ModTime: Now.Add(-ago), Status: fact.OK}
	}
	yes := true
	s := &session.Snapshot{
		Version: 7, At: Now, Mode: session.Live, Root: "/w/FlyDSL-fa-fp8",
		Host: session.Host{Name: "mi355x-07", GPUs: []runs.GPU{{Index: 0, Name: "AMD Instinct MI355X", Arch: "gfx950"}}, GPUStatus: ok("", 0)},
		Repo: repo.Repo{
			Origin: ok("/w/FlyDSL-fa-fp8", 0), State: repo.Worktree, Root: "/w/FlyDSL-fa-fp8", Branch: "rlcr/fa-fp8",
			Head: "3ea370afdfcfa9a29ad264bb94dc365aa42d87dd", FilesKnown: true, FileCount: 2,
			Files: []repo.File{{Path: "kernels/flash_attn_gfx950.py", Change: repo.Modified, Unstaged: true}, {Path: "notes.txt", Change: repo.Untracked}},
			Base: &repo.Base{
				Ref: "rocm-kda-base/fa-fp8", Commit: "68d36f462617685a434349b6b88f0f61161f91f7", IsBranch: true, Status: fact.OK,
				IsAncestor: &yes, Distance: &repo.Distance{Ahead: 5},
				Commits: []repo.Commit{
					{SHA: "3ea370afdfcfa9a29ad264bb94dc365aa42d87dd", Subject: "Keep P unnormalised through the fp8 PV product", Time: Now.Add(-40 * time.Minute)},
					{SHA: "12ab370afdfcfa9a29ad264bb94dc365aa42d87d", Subject: "Double-buffer K loads", Time: Now.Add(-3 * time.Hour)},
				},
				Diff: &repo.DiffStat{FileCount: 2, Added: 214, Deleted: 61, Files: []repo.FileStat{{Path: "kernels/flash_attn_gfx950.py", Added: 201, Deleted: 61}, {Path: "tests/test_routing.py", Added: 13}}},
			},
		},
		Loops:         loop.Set{Root: "/w/FlyDSL-fa-fp8", Loops: []loop.Loop{SampleLoop()}, Origin: ok(".humanize", 0)},
		BundlesStatus: ok("profile", 0), RunsStatus: ok("runs", 0),
		Analyses: map[string]*stall.Analysis{}, AnalysisErrs: map[string]string{}, Results: map[runs.ID]*bench.Result{},
		Watch: session.Watch{Mode: "inotify", Folders: 24},
	}
	for i, name := range []string{"profile/fa-gfx950-20260821-113000/flyprof", "profile/fa-gfx950-20260820-090000/flyprof"} {
		path := s.Root + "/" + name
		s.Bundles = append(s.Bundles, session.Bundle{Path: path, Name: name, Kind: "bundle", ModTime: Now.Add(-time.Duration(3+26*i) * time.Hour), HasTrace: true, HasBubbles: true})
		s.Analyses[path] = SampleAnalysis(path, i == 0)
	}
	fill(s)
	return s
}

// SampleLoop is a loop whose round 3 is being worked on.
func SampleLoop() loop.Loop {
	known := func(n int) loop.Int { return loop.Int{N: n, Known: true} }
	l := loop.Loop{
		Name: "2026-08-21_08-12-44", Dir: "/w/FlyDSL-fa-fp8/.humanize/rlcr/2026-08-21_08-12-44", Layout: loop.RLCR,
		StateFile: "state.md", Phase: loop.Implementing, PhaseSince: Now.Add(-47 * time.Minute),
		Ball:   loop.Ball{Who: loop.Claude, Since: Now.Add(-47 * time.Minute), Why: "round 3 is open"},
		Origin: fact.Origin{Path: ".humanize/rlcr/2026-08-21_08-12-44/state.md", Status: fact.OK, ReadAt: Now, ModTime: Now.Add(-47 * time.Minute)},
	}
	l.Round, l.Max, l.StallCount, l.FullReviewRound = known(3), known(12), known(1), known(5)
	l.LastVerdict, l.Drift = loop.Stalled, "normal"
	l.BaseBranch, l.BaseCommit = "rocm-kda-base/fa-fp8", "68d36f462617685a434349b6b88f0f61161f91f7"
	l.Model, l.Effort, l.SessionID = "gpt-5.5", "xhigh", "7d1f3c52"
	l.StartedAt = Now.Add(-6*time.Hour - 18*time.Minute)
	for n, v := range []loop.Verdict{loop.Advanced, loop.Advanced, loop.Stalled} {
		l.Rounds = append(l.Rounds, loop.Round{
			N: n, Files: []string{"contract", "prompt", "review-prompt", "review-result", "summary"},
			Review:  loop.Review{Kind: loop.SummaryReview, Verdict: v, ACsMet: known(n + 2), ACsTotal: known(7), Gaps: known(3 - n)},
			Summary: loop.Summary{Status: fact.OK, Bytes: 2400}, Contract: loop.Contract{Status: fact.OK, Objective: "Reach the fp8 gate on long rows", ACs: []string{"AC-3", "AC-4"}},
			Opened: Now.Add(-time.Duration(6-2*n) * time.Hour), Reviewed: Now.Add(-time.Duration(5-2*n) * time.Hour), ReviewStatus: fact.Origin{Status: fact.OK},
		})
	}
	l.Rounds = append(l.Rounds, loop.Round{N: 3, Files: []string{"prompt", "summary"}, Summary: loop.Summary{Status: fact.OK, Scaffold: true, Bytes: 600}, Opened: Now.Add(-47 * time.Minute), ReviewStatus: fact.Origin{Status: fact.Missing}})
	l.Tracker = loop.Tracker{ActiveRows: 5, ActiveCompleted: 2, Open: 3, CompletedRows: 2, Queued: 1, Goal: "fp8 attention forward at parity with the vendor's assembly kernel", PlanVersion: known(2), Origin: fact.Origin{Status: fact.OK}}
	for i := 1; i <= 7; i++ {
		l.Tracker.Criteria = append(l.Tracker.Criteria, loop.Criterion{ID: fmt.Sprintf("AC-%d", i), Text: "criterion " + strings.Repeat("x", i), Verified: i <= 2, Claimed: i <= 4})
	}
	l.NextStop = []loop.Refusal{{Gate: "contract", Text: "round-3-contract.md is missing"}, {Gate: "summary", Text: "round-3-summary.md is still the scaffold"}}
	l.Warnings = []loop.Warning{{ID: "stall-count", Severity: loop.Amber, Text: "1 of 3 rounds without mainline progress"}}
	return l
}

// SampleAnalysis is a trace that waits for global loads; after has the bubble
// smaller than before.
func SampleAnalysis(path string, after bool) *stall.Analysis {
	shares := []struct {
		class stall.Class
		pct   float64
	}{{"vmcnt", 54.98}, {"barrier", 16.31}, {"lgkmcnt", 12.2}, {"mfma", 9.51}, {"vmem_load", 4.6}, {"valu", 2.4}}
	if after {
		shares[0].pct, shares[1].pct, shares[2].pct = 41.12, 20.1, 17.0
		shares[3].pct, shares[4].pct, shares[5].pct = 13.9, 5.2, 2.68
	}
	a := &stall.Analysis{
		Path: path, Dir: path + "/att/big/ui_output_agent_56573_dispatch_87", Used: stall.Computed,
		Question: "VMEM wait", Origin: fact.Origin{Path: path + "/code.json", Status: fact.OK, ModTime: Now.Add(-3 * time.Hour)},
		Freshness: stall.Freshness{Verdict: stall.StaleSource, Reasons: []string{"kernels/flash_attn_gfx950.py changed since the capture"}, CapturedAt: Now.Add(-3 * time.Hour)},
	}
	if !after {
		a.Freshness = stall.Freshness{Verdict: stall.StaleAge, Reasons: []string{"captured 2 rounds ago"}, CapturedAt: Now.Add(-29 * time.Hour)}
	}
	a.Bubbles.DispatchDir = "ui_output_agent_56573_dispatch_87"
	a.Bubbles.Totals = stall.Totals{Instructions: 996, TotalLatency: 2_400_000, TotalStall: 2_184_000, StallPct: 91.0, HitCount: 61000}
	for i, s := range shares {
		cycles := int64(s.pct * 21840)
		a.Bubbles.Taxonomy.ByClass = append(a.Bubbles.Taxonomy.ByClass, stall.ClassShare{Class: s.class, Cycles: cycles, Pct: stall.Num(s.pct), Rank: i + 1, IsBubble: s.class.IsBubble()})
	}
	for i := range 12 {
		a.Bubbles.Hotspots = append(a.Bubbles.Hotspots, stall.Hotspot{
			CodeLine: int64(328 + 7*i), Addr: fmt.Sprintf("0x%x", 0x2078+40*i), Inst: "s_waitcnt vmcnt(1)", Class: "vmcnt",
			Source: fmt.Sprintf("/src/kernels/flash_attn_gfx950.py:%d", 585+i), Hit: 1024, Latency: 312632 - int64(20000*i), Stall: 312632 - int64(20000*i), StallPct: 100,
			Producers: []stall.Producer{{CodeLine: int64(300 + i), Inst: "buffer_load_dwordx4 v[12:15], v3, s[8:11], 0 offen", Source: "/src/kernels/flash_attn_gfx950.py:412"}},
		})
		a.Bubbles.BySource = append(a.Bubbles.BySource, stall.SourceShare{Source: fmt.Sprintf("/src/kernels/flash_attn_gfx950.py:%d", 585+i), Stall: 312632 - int64(20000*i), Pct: stall.Num(14.3 - float64(i)), DomClass: "vmcnt"})
	}
	peak, est, waves := 8, 4, 24
	pct := stall.Num(87.6)
	mapped := stall.Num(99.9)
	a.Trust = stall.Trust{
		Kernel: "flash_attn_fwd_gfx950_0", Dispatch: a.Bubbles.DispatchDir, Tag: "big", Rows: 997, Instructions: 996, Executed: 873,
		ExecutedPct: &pct, Mapped: 996, MappedPct: &mapped, WaveFiles: &waves, WavesListed: &waves,
		Occupancy: stall.Occupancy{Which: "measured", PeakPerCU: &peak, Estimate: &est}, Decoder: "rocprofv3 1.1.0", Arch: "gfx950",
		Caveats: []string{"one CU per shader engine was sampled"},
	}
	a.Report = stall.Report{Kernel: a.Trust.Kernel, Bound: stall.MemoryBound, Headline: "memory-bound, vmcnt-dominated", Used: stall.Computed, Recommendations: []stall.Recommendation{
		{Rank: 1, Rule: "vmem_prefetch", BubbleClass: "vmcnt", Confidence: "high", Knob: "prefetch global loads", Evidence: stall.Evidence{Signal: "vmcnt", Pct: stall.Num(shares[0].pct), Source: "/src/kernels/flash_attn_gfx950.py:585"}},
		{Rank: 2, Rule: "barrier_relax", BubbleClass: "barrier", Confidence: "medium", Knob: "narrow barriers", Evidence: stall.Evidence{Signal: "barrier", Pct: stall.Num(shares[1].pct)}},
	}}
	return a
}

// SampleResult is a sweep of 16 cells, scaled by f; one cell fails if bad.
func SampleResult(f float64, bad bool) *bench.Result {
	r := &bench.Result{Family: "flash_attn", Version: "HEAD", Mode: "normal", GPU: "AMD Instinct MI355X", CSVAnnounced: []string{}, Counts: map[string]int{}}
	for _, dtype := range []string{"bf16", "fp8"} {
		for _, causal := range []bool{true, false} {
			for i, seq := range []int64{512, 2048, 8192, 32768} {
				word := "nocausal"
				if causal {
					word = "causal"
				}
				us := 12 * math.Pow(float64(seq)/512, 1.6) * f * (1 + 0.01*float64(i))
				row := bench.Row{
					Key:    fmt.Sprintf("B1_S%d_H16_Hkv16_D128_%s_%s_sp1", seq, dtype, word),
					Fields: bench.Fields{{Name: "B", Value: bench.Int(1)}, {Name: "S", Value: bench.Int(seq)}, {Name: "H", Value: bench.Int(16)}, {Name: "Hkv", Value: bench.Int(16)}, {Name: "D", Value: bench.Int(128)}, {Name: "dtype", Value: bench.Str(dtype)}, {Name: "causal", Value: bench.Bool(causal)}, {Name: "kv_sp", Value: bench.Int(1)}},
					Status: bench.Pass, US: bench.Of(math.Round(us*10) / 10), TFLOPS: bench.Of(412.5), MaxErr: bench.Of(0.0039), MinCos: bench.Of(0.99999),
				}
				if bad && dtype == "fp8" && seq == 32768 && causal {
					row.Status, row.US, row.MinCos = bench.Fail, bench.Of(us), bench.Of(0.554)
				}
				r.Counts[string(row.Status)]++
				r.Rows = append(r.Rows, row)
			}
		}
	}
	verdict := "All tests PASSED"
	exit := 0
	if bad {
		verdict, exit = "Some tests FAILED", 1
	}
	r.Verdict, r.ExitStatus = &verdict, &exit
	return r
}

func fill(s *session.Snapshot) {
	cand, base := SampleResult(0.93, true), SampleResult(1, false)
	zero, one, expected := 0, 1, 16
	done := func(id, preset string, r *bench.Result, exit *int, ago time.Duration) runs.Run {
		return runs.Run{
			ID: runs.ID(id), Dir: s.Root + "/.humanize/kdapilot/runs/" + id, State: runs.Ended, Origin: fact.Origin{Status: fact.OK},
			Manifest: runs.Manifest{ID: runs.ID(id), Preset: preset, Kind: runs.Harness, Family: "flashattn", Argv: []string{"python3", "tests/kernels/test_flash_attn_fwd.py", "--warmup", "10", "--iters", "20"}, Cwd: s.Root, Worktree: s.Root, Branch: "rlcr/fa-fp8", Head: s.Repo.Head, GPUs: s.Host.GPUs, Started: Now.Add(-ago), ExpectedCells: &expected},
			Result:   &runs.Result{ID: runs.ID(id), State: runs.Ended, Exit: exit, Started: Now.Add(-ago), Ended: Now.Add(-ago + 6*time.Minute), WallSeconds: 371.2},
			Progress: runs.Progress{Done: len(r.Rows), Expected: &expected}, StdoutBytes: 48211,
		}
	}
	s.Runs = []runs.Run{
		{
			ID: "20260821-142502-smoke-3f2a", State: runs.Running, Dir: s.Root + "/.humanize/kdapilot/runs/20260821-142502-smoke-3f2a", Origin: fact.Origin{Status: fact.OK},
			Manifest: runs.Manifest{ID: "20260821-142502-smoke-3f2a", Preset: "smoke", Kind: runs.Harness, Family: "flashattn", Argv: []string{"python3", "tests/kernels/test_flash_attn_fwd.py", "--dtype", "bf16", "--causal"}, Cwd: s.Root, Worktree: s.Root, Head: s.Repo.Head, GPUs: s.Host.GPUs, Started: Now.Add(-5 * time.Minute), ExpectedCells: &expected},
			Progress: runs.Progress{Done: 5, Expected: &expected, Current: "B1_S8192_H16_Hkv16_D128_bf16_causal_sp1", ElapsedSeconds: 301}, StdoutBytes: 9120,
		},
		done("20260821-120310-sweep-91bc", "sweep", cand, &one, 150*time.Minute),
		done("20260820-093011-sweep-07aa", "sweep", base, &zero, 29*time.Hour),
	}
	for i := 1; i < 3; i++ {
		r := &s.Runs[i]
		res := []*bench.Result{nil, cand, base}[i]
		s.Results[r.ID] = res
		s.Sets = append(s.Sets, session.RowSet{ID: string(r.ID), Label: "sweep " + string(r.ID[:13]), When: r.Result.Ended, Result: res, Run: r, Origin: fact.Origin{Path: r.Dir + "/stdout.log", Status: fact.OK}})
	}
	s.Delta = &session.Delta{Base: s.Sets[1].ID, Cand: s.Sets[0].ID, Comparison: bench.Compare(
		bench.Arm{Label: s.Sets[1].Label, Runs: [][]bench.Row{base.AllRows()}},
		bench.Arm{Label: s.Sets[0].Label, Runs: [][]bench.Row{cand.AllRows()}}, bench.Options{})}
	s.LogID = s.Runs[0].ID
	for i := range 40 {
		s.Log = s.Log.Append(fmt.Sprintf("   1  %5d   16   16  128  bf16   causal     1 dense   |   PASS | 3.91e-03  0.99999 | %10.1f   412.5", 512+i*128, 12.5+float64(i)))
	}
	s.Notices = []session.Notice{
		{Severity: session.Red, Area: "bench", Text: "sweep 20260821-1203: 1 cell fails its gate: min_cos 0.554"},
		{Severity: session.Amber, Area: "loop", Text: "1 of 3 rounds without mainline progress"},
		{Severity: session.Info, Area: "watch", Text: "24 folders watched"},
	}
	s.Since = &session.Since{At: Now.Add(-14 * time.Hour), Lines: []string{"round 2 reviewed: stalled", "2 commits", "1 new red"}}
}
