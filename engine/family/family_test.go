package family_test

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"kdapilot/engine/family"
)

const small = `schema = 1
title = "T"
archs = ["gfx950"]
dtypes = ["bf16"]
[harness]
path = "t.py"
parser = "flash_attn"
[[axes]]
name = "S"
kind = "int"
[[axes]]
name = "dtype"
kind = "word"
words = ["bf16", "b"]
[[axes]]
name = "mask"
kind = "word"
words = ["causal", "nocausal"]
flags = { causal = "--causal", nocausal = "--no-causal" }
[cells]
key = "S{S}_{dtype}_{mask}"
columns = ["S"]
loop = ["dtype", "mask", "row"]
values = { dtype = ["bf16"], mask = ["causal", "nocausal"] }
[[cells.tables]]
name = "a"
rows = [[64], [128]]
[[cells.tables]]
name = "b"
rows = [[8192]]
only = { mask = ["causal"] }
[[variants]]
name = "new"
has = ["--extra"]
extra_rows = 3
[[variants]]
name = "old"
lacks = ["--extra"]
has = ["VARLEN"]
tables = ["a"]
[[regimes]]
name = "short"
where = { S = "<=128" }
[[regimes]]
name = "long"
where = { S = ">128" }
[[gates]]
dtypes = ["bf16"]
metric = "max_err"
op = "<"
limit = 0.01
[[presets]]
name = "sweep"
kind = "harness"
argv = ["{python}", "{harness}", "--gpu={gpu}"]
timeout = "1h"
expect = "all"
extra = true
[[presets]]
name = "focus"
kind = "harness"
argv = ["python3", "{harness}", "--s", "{S}", "{mask:flag}"]
env = { B = "{bundle}" }
timeout = "1m"
expect = "cell"
set = "two"
[[focus_sets]]
name = "two"
keys = ["S64_bf16_causal", "S8192_bf16_causal"]
[[presets]]
name = "away"
kind = "script"
argv = ["x"]
root = "aiter"
timeout = "1m"
expect = "none"
[profile]
evidence = "flyprof"
[bar]
text = "faster"
`

func parse(t *testing.T, src string) family.Family {
	t.Helper()
	f, err := family.Parse("small", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestExpandFollowsTheHarnessOrder(t *testing.T) {
	f := parse(t, small)
	for _, tt := range []struct{ variant, want string }{
		{"", "S64_bf16_causal S128_bf16_causal S8192_bf16_causal S64_bf16_nocausal S128_bf16_nocausal"},
		{"old", "S64_bf16_causal S128_bf16_causal S64_bf16_nocausal S128_bf16_nocausal"},
	} {
		cells, err := f.Expand(tt.variant)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range cells {
			got = append(got, c.Key)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("variant %q: %s\nwant %s", tt.variant, s, tt.want)
		}
	}
	if _, err := f.Expand("nope"); err == nil {
		t.Error("an unknown variant expands")
	}
}

func TestPreset(t *testing.T) {
	f := parse(t, small)
	c, err := f.Preset("sweep", family.Params{GPU: 3, Worktree: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.Argv, " "); got != "python3 t.py --gpu=3" {
		t.Errorf("argv %q", got)
	}
	if got := strings.Join(c.Env, " "); got != "HIP_VISIBLE_DEVICES=3 PYTHONUNBUFFERED=1" {
		t.Errorf("env %q", got)
	}
	if len(c.Expected) != 5 || c.ExpectedExtra != 3 || c.Timeout.Hours() != 1 || c.Cwd != "/w" || c.Parser != "flash_attn" {
		t.Errorf("command %+v", c)
	}
	seq, err := f.Sequence("focus", family.Params{Worktree: "/w", Bundle: "/b"})
	if err != nil {
		t.Fatal(err)
	}
	if len(seq) != 2 || strings.Join(seq[1].Argv, " ") != "python3 t.py --s 8192 --causal" || seq[1].Expected[0] != "S8192_bf16_causal" {
		t.Errorf("sequence %+v", seq)
	}
	if seq[0].Env[0] != "B=/b" {
		t.Errorf("env %q", seq[0].Env)
	}
}

func TestPresetSaysWhatIsMissing(t *testing.T) {
	f := parse(t, small)
	for _, tt := range []struct {
		preset string
		p      family.Params
		want   string
	}{
		{"nope", family.Params{Worktree: "/w"}, "it has sweep, focus, away"},
		{"sweep", family.Params{}, "worktree path is not given"},
		{"focus", family.Params{Worktree: "/w", Bundle: "/b"}, "{S}"},
		{"focus", family.Params{Worktree: "/w", Cell: "S64_bf16_causal"}, "{bundle}"},
		{"focus", family.Params{Worktree: "/w", Bundle: "/b", Cell: "S64_f"}, "expected the form S{S}_{dtype}_{mask}"},
		{"away", family.Params{Worktree: "/w"}, "aiter checkout"},
		{"sweep", family.Params{Worktree: "/w", Variant: "zz"}, `no harness variant "zz"`},
	} {
		_, err := f.Preset(tt.preset, tt.p)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("preset %s: error %v, want %q", tt.preset, err, tt.want)
		}
	}
	if _, err := f.Preset("nope", family.Params{}); !errors.Is(err, family.ErrNoPreset) {
		t.Errorf("error %v does not wrap ErrNoPreset", err)
	}
}

func TestOverrideLeavesTheFamilyAlone(t *testing.T) {
	f := parse(t, small)
	g := f.Override("sweep", []string{"echo", "{gpu}"}, map[string]string{"A": "1"}).Override("mine", []string{"true"}, nil)
	if c, err := g.Preset("sweep", family.Params{Worktree: "/w"}); err != nil || c.Argv[0] != "echo" || c.Env[0] != "A=1" || len(c.Expected) != 5 {
		t.Errorf("override: %+v %v", c, err)
	}
	if _, err := g.Preset("mine", family.Params{Worktree: "/w"}); err != nil {
		t.Error(err)
	}
	if c, err := f.Preset("sweep", family.Params{Worktree: "/w"}); err != nil || c.Argv[0] != "python3" {
		t.Errorf("the first family changed: %+v %v", c, err)
	}
}

func TestVariantFromText(t *testing.T) {
	f := parse(t, small)
	for _, tt := range []struct {
		text, want string
		sure       bool
	}{{"add_argument('--extra')", "new", true}, {"VARLEN_CONFIGS = []", "old", true}, {"", "new", false}} {
		if got, sure := f.Variant([]byte(tt.text)); got != tt.want || sure != tt.sure {
			t.Errorf("%q: %s %v", tt.text, got, sure)
		}
	}
}

func TestRegimeAndGates(t *testing.T) {
	f := parse(t, small)
	for key, want := range map[string]string{"S128_bf16_causal": "short", "S129_bf16_causal": "long", "S_bf16_causal": "", "": "",
		"S64_bf16_causalx": "", "S99999999999999999999_bf16_causal": ""} {
		if got := f.Regime(key); got != want {
			t.Errorf("Regime(%q) = %q, want %q", key, got, want)
		}
	}
	g := f.GatesFor("bf16")
	if len(g) != 1 || !g[0].Pass(0.0099) || g[0].Pass(0.01) || g[0].Pass(math.NaN()) {
		t.Errorf("gates %+v", g)
	}
	if len(f.GatesFor("fp8")) != 0 {
		t.Error("a gate for a dtype the family does not have")
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"unknown key", `title = "T"`, "title = \"T\"\ncolour = 1", `family.toml:3:1: unknown key "colour"`},
		{"wrong type", `title = "T"`, `title = 5`, "family.toml:2:"},
		{"syntax", `title = "T"`, `title = `, "family.toml:2:"},
		{"schema", "schema = 1", "schema = 9", "expected 1"},
		{"no title", `title = "T"`, "", "title is missing"},
		{"arch", `"gfx950"`, `"mi300"`, `family.toml:3: arch "mi300"`},
		{"row width", "[[64], [128]]", "[[64, 1]]", "a row has 2 values, the columns are 1"},
		{"row type", "[[64], [128]]", "[[true]]", "neither an integer nor a string"},
		{"twice", "[[64], [128]]", "[[64], [64]]", "comes out twice"},
		{"regime gap", `S = ">128"`, `S = ">9000"`, "no regime takes cell S8192_bf16_causal"},
		{"condition", `S = ">128"`, `S = ">x"`, "expected an integer after >"},
		{"loop", `"mask", "row"]`, `"row"]`, "nothing given for {mask}"},
		{"axis", `where = { S = "<=128" }`, `where = { Z = "1" }`, `"Z" is no axis`},
		{"kind", `kind = "script"`, `kind = "scrip"`, "expected harness, pytest, script or flyprof"},
		{"timeout", `timeout = "1h"`, `timeout = "soon"`, `timeout "soon"`},
		{"placeholder", "--gpu={gpu}", "--gpu={gup}", "{gup}"},
		{"brace", "--gpu={gpu}", "--gpu={gpu", "{ without }"},
		{"set", `set = "two"`, `set = "three"`, `no focus set "three"`},
		{"focus key", `"S64_bf16_causal", `, `"S64", `, "focus set two"},
		{"evidence", `evidence = "flyprof"`, `evidence = "vibes"`, "vibes"},
		{"gate dtype", "[[gates]]\ndtypes = [\"bf16\"]", "[[gates]]\ndtypes = [\"fp8\"]", "not in dtypes"},
		{"op", `op = "<"`, `op = "!"`, "expected < <= > or >="},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := strings.Replace(small, tt.old, tt.new, 1)
			if src == small {
				t.Fatalf("%q is not in the fixture", tt.old)
			}
			_, err := family.Parse("small", []byte(src))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v\nwant %q", err, tt.want)
			}
			var where *family.Error
			if !errors.As(err, &where) {
				t.Errorf("error %v is no *family.Error", err)
			}
		})
	}
	if _, err := family.Parse("big", make([]byte, family.MaxSize+1)); err == nil {
		t.Error("a megabyte too much was read")
	}
}

// shipped reads a family that ships with the program, without importing the
// templates package: the engine may not.
func shipped(t *testing.T, name string) family.Family {
	t.Helper()
	b, err := os.ReadFile("../../templates/families/" + name + "/family.toml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := family.Parse(name, b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestShippedFamilies(t *testing.T) {
	entries, err := os.ReadDir("../../templates/families")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		n++
		f := shipped(t, e.Name())
		for _, p := range family.Lint(f) {
			t.Logf("%s: %s", f.Name, p.Text)
		}
		for _, v := range f.Variants {
			checkPresets(t, f, v.Name)
		}
	}
	if n == 0 {
		t.Fatal("no shipped family")
	}
}

func checkPresets(t *testing.T, f family.Family, variant string) {
	t.Helper()
	p := family.Params{Worktree: "/w", Bundle: "/b", RunID: "r1", Variant: variant, Kernel: "k", Roots: map[string]string{"aiter": "/aiter"}, Before: "/b0", After: "/b1", Class: "vmcnt"}
	cells, err := f.Expand(variant)
	if err != nil {
		t.Error(err)
	}
	if len(cells) > 0 {
		p.Cell = cells[0].Key
	}
	for _, pre := range f.Presets {
		c, err := f.Preset(pre.Name, p)
		if err != nil {
			t.Error(err)
			continue
		}
		if strings.ContainsAny(strings.Join(c.Argv, " "), "{}") || c.Timeout <= 0 {
			t.Errorf("%s %s: %v", f.Name, pre.Name, c)
		}
		if pre.Expect == "all" && len(c.Expected) == 0 {
			t.Errorf("%s %s (%s): no cell is expected", f.Name, pre.Name, variant)
		}
	}
}

// TestFlashAttentionCensus holds the numbers of rows the two harness versions
// are known to print.
func TestFlashAttentionCensus(t *testing.T) {
	f := shipped(t, "flashattn")
	p := family.Params{Worktree: "/w"}
	for _, tt := range []struct {
		variant, preset string
		want            int
	}{{"head", "sweep", 440}, {"head", "smoke", 110}, {"pr683", "sweep", 108}, {"pr683", "smoke", 27}} {
		p.Variant = tt.variant
		c, err := f.Preset(tt.preset, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Expected) != tt.want {
			t.Errorf("%s %s: %d cells, want %d", tt.variant, tt.preset, len(c.Expected), tt.want)
		}
	}
	p.Variant, p.Cell = "", "B1_S8192_H4_Hkv4_D128_bf16_nocausal_sp2"
	c, err := f.Preset("focus", p)
	if err != nil {
		t.Fatal(err)
	}
	want := "python3 tests/kernels/test_flash_attn_fwd.py --batch 1 --seq_len 8192 --num_heads 4 --num_kv_heads 4 --head_dim 128 --num_kv_splits 2 --dtype bf16 --no-causal --warmup 10 --iters 100"
	if got := strings.Join(c.Argv, " "); got != want {
		t.Errorf("focus\n got %s\nwant %s", got, want)
	}
	if got := f.Regime(p.Cell); got != "split-K" {
		t.Errorf("regime %q", got)
	}
}

// TestOtherCensus holds what the other families expect of their commands.
func TestOtherCensus(t *testing.T) {
	for _, tt := range []struct {
		family, preset, cell string
		cells, extra         int
		argv                 string // a part of it
	}{
		{"flashattn-deep", "sweep", "", 440, 0, "--warmup 10 --iters 20"},
		{"flashattn-fp8", "smoke", "", 1, 0, "--dtype fp8 --compare --causal"},
		{"flashattn-fp8", "sweep", "", 440, 0, "--warmup 10 --iters 20"},
		{"flashattn-fp8", "compare", "", 220, 0, "--dtype fp8 --compare"},
		{"flashattn-fp8", "extra", "", 220, 52, "--dtype fp8 --extra"},
		{"mxfp4-moe", "smoke", "", 3, 0, "op_tests/test_moe_2stage.py -q 4 -dim 7168,256 -e 257 -k 9 -t 1 32 4096"},
		{"mxfp4-moe", "sweep-dsv4-a8w4", "", 16, 0, "-q 7 -a silu -dim 7168,512 -e 385 -k 7 -t 1 2 4"},
		{"mxfp4-moe", "sweep-gptoss-a4w4", "", 8, 0, "-q 4 -a swiglu -dim 3072,3072 -e 128 -k 4 -t 256 512"},
		{"mxfp4-moe", "focus", "fmoe_a8w4_t512_d3072x3072_e128k4", 1, 0, "-q 7 -a swiglu -dim 3072,3072 -e 128 -k 4 -t 512"},
		{"gemm", "focus", "M16_N40960_K5120_fp8_tile16x128x256", 1, 0, "--in_dtype fp8 -M 16 -N 40960 -K 5120 --tile_m 16 --tile_n 128 --tile_k 256"},
		{"generic", "compare", "", 0, 0, "bash .humanize/kernel-agent/bench.sh"},
	} {
		f := shipped(t, tt.family)
		c, err := f.Preset(tt.preset, family.Params{Worktree: "/w", Cell: tt.cell, Roots: map[string]string{"aiter": "/aiter"}})
		if err != nil {
			t.Error(err)
			continue
		}
		if len(c.Expected) != tt.cells || c.ExpectedExtra != tt.extra || !strings.Contains(strings.Join(c.Argv, " "), tt.argv) {
			t.Errorf("%s %s: %d cells, %d extra, %v", tt.family, tt.preset, len(c.Expected), c.ExpectedExtra, c.Argv)
		}
	}
	all, err := shipped(t, "mxfp4-moe").Expand("")
	if err != nil || len(all) != 96 {
		t.Errorf("mxfp4-moe: %d cells, want 96 (%v)", len(all), err)
	}
	seq, err := shipped(t, "gemm").Sequence("sweep", family.Params{Worktree: "/w"})
	if err != nil || len(seq) != 9 {
		t.Errorf("gemm sweep: %d commands, want 9 (%v)", len(seq), err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("schema = 1\n[cells]\nkey = \"{S\"\nloop = [\"row\", \"row\"]\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		fam, err := family.Parse("x", src)
		if err != nil {
			return
		}
		for _, p := range fam.Presets {
			_, _ = fam.Preset(p.Name, family.Params{Worktree: "/w", Cell: string(src)})
		}
		fam.Regime(string(src))
	})
}

func BenchmarkSweep(b *testing.B) {
	src, err := os.ReadFile("../../templates/families/flashattn/family.toml")
	if err != nil {
		b.Fatal(err)
	}
	f, err := family.Parse("flashattn", src)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := f.Preset("sweep", family.Params{Worktree: "/w"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	src, err := os.ReadFile("../../templates/families/flashattn/family.toml")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := family.Parse("flashattn", src); err != nil {
			b.Fatal(err)
		}
	}
}
