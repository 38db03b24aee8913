package rocmreport

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const good = `# flash_attn_fwd ROCm Profiling Report

**Kernel:** ` + "`flash_attn_fwd_gfx950`" + `
**GPU:** MI355X, gfx950
**Date:** 2026-08-21

## 3. Diagnosis

| Finding | Evidence |

## 4. Next Code Hypothesis

> Moving the K load of kernels/flash_attn_gfx950.py:585 one step ahead shortens vmcnt
> by a third of its share; nothing else changes.

## 5. Retest Plan

- Before run: profile/base
- After run: 20260821-120310-sweep-91bc

## 6. Caveats
`

func put(t *testing.T, path, body string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFindReadsTheOneHypothesis(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "profile/round-3/REPORT.md"), good)
	put(t, filepath.Join(root, "profile/round-3/analysis/run_metadata.json"), `{"created_at":"2026-08-21T10:00:00+00:00"}`)
	put(t, filepath.Join(root, "profile/flyprof/REPORT.md"), "# flash_attn — gfx950/MI350X Profiling Report\n\n## 4. Next\n\nx\n")
	put(t, filepath.Join(root, "profile/hand/REPORT.md"), strings.Replace(good, "> by a third", "\n> Also widen the MFMA by a third", 1))
	got := Find(t.Context(), root)
	if len(got) != 2 {
		t.Fatalf("%d reports: %+v", len(got), got)
	}
	for _, r := range got {
		switch r.Name {
		case "profile/round-3":
			if !r.One() || !strings.HasPrefix(r.Hypothesis, "Moving the K load") || !strings.HasSuffix(r.Hypothesis, "nothing else changes.") || r.Line != 13 {
				t.Errorf("%+v", r)
			}
			if r.Kernel != "flash_attn_fwd_gfx950" || r.Date != "2026-08-21" || r.Created == "" {
				t.Errorf("fields %+v", r)
			}
			if len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "before run is not there: profile/base") {
				t.Errorf("problems %v", r.Problems)
			}
			if !r.Names("20260821-120310-sweep-91bc") || !r.Names("kernels/flash_attn_gfx950.py") || r.Names("profile/other") {
				t.Errorf("mentions %v", r.Mentions)
			}
		case "profile/hand":
			if r.One() || !strings.Contains(strings.Join(r.Problems, "\n"), "more than one claim") || !strings.Contains(strings.Join(r.Problems, "\n"), "by hand") {
				t.Errorf("%+v", r)
			}
		default:
			t.Errorf("taken: %s", r.Name)
		}
	}
}

func TestParseRefusesOthersAndEmptyOnes(t *testing.T) {
	if _, ok := Parse([]byte("# Notes\n\n## 4. Next Code Hypothesis\n\nx\n")); ok {
		t.Error("notes are taken for a report")
	}
	r, ok := Parse([]byte("# k ROCm Profiling Report\n\n## 4. Next Code Hypothesis\n\n## 5. Retest Plan\n"))
	if !ok || r.Claims != 0 || !strings.Contains(strings.Join(r.Problems, ""), "no hypothesis") {
		t.Errorf("%+v %v", r, ok)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("# x ROCm Profiling Report\n## 4. a\n- \x1b]52;c;x\x07\n- b\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, ok := Parse(b)
		if !ok {
			return
		}
		if len(r.Hypothesis) > maxText+4 || strings.ContainsAny(r.Hypothesis+r.Kernel+r.Before, "\x1b\n\x07") {
			t.Fatalf("%q", r.Hypothesis)
		}
		if (r.Claims == 0) != (r.Hypothesis == "") {
			t.Fatalf("%d claims in %q", r.Claims, r.Hypothesis)
		}
	})
}
