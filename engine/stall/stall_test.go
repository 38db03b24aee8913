package stall

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"testing"
)

func TestNum(t *testing.T) {
	for _, c := range []struct {
		in   float64
		want string
	}{
		{100, "100.0"}, {0, "0.0"}, {58.22, "58.22"}, {-2.5, "-2.5"}, {0.0001, "0.0001"}, {0.00001, "1e-05"},
		{1e15, "1000000000000000.0"}, {1e16, "1e+16"}, {4.9392e-05, "4.9392e-05"}, {math.NaN(), "null"}, {math.Inf(1), "null"},
	} {
		b, err := Num(c.in).MarshalJSON()
		if err != nil || string(b) != c.want {
			t.Errorf("%v: %s %v, want %s", c.in, b, err, c.want)
		}
	}
}

// TestRound holds cases where rounding decimals by hand goes wrong; the wanted
// values are Python's.
func TestRound(t *testing.T) {
	for _, c := range []struct {
		x      float64
		digits int
		want   Num
	}{{2.675, 2, 2.67}, {0.125, 2, 0.12}, {0.375, 2, 0.38}, {1.005, 2, 1}, {2.5, 0, 2}, {0.0625, 3, 0.062}, {99.95, 1, 100}} {
		if got := Round(c.x, c.digits); got != c.want {
			t.Errorf("Round(%v, %d) = %v, want %v", c.x, c.digits, got, c.want)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		isa  string
		want Class
	}{
		{"s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)", VMCnt}, {"s_wait_storecnt 0x0", VMCnt}, {"s_wait_dscnt 0x0", LGKMCnt}, {"s_wait_kmcnt 0", LGKMCnt},
		{"s_waitcnt expcnt(0)", ExpCnt}, {"s_waitcnt 0", WaitCnt}, {"s_wait_idle", WaitCnt}, {"S_BARRIER", Barrier}, {"v_mfma_f32_16x16x32_bf16 a[0:3]", MFMA},
		{"v_smfmac_f32_16x16x64 v", MFMA}, {"s_buffer_load_dword s0, s[0:3], 0", VMemLoad}, {"global_load_lds_dwordx4 v0, off", VMemLoad},
		{"flat_store_dword v0", VMemStore}, {"ds_swizzle_b32 v0", LDS}, {"s_load_dwordx2 s[4:5]", SMem}, {"v_wmma_f32 v0", VALU}, {"v_add_f32 v0", VALU},
		{"s_cbranch_vccnz 12", Branch}, {"s_nop 0", SALU}, {"scratch_load_dword v0", Other}, {"buffer_wbl2 sc1", Other}, {"", Other}, {"; kernel", Other},
	} {
		if got := Classify(c.isa); got != c.want {
			t.Errorf("%q is %s, want %s", c.isa, got, c.want)
		}
	}
	for _, c := range Classes() {
		want := c == VMCnt || c == LGKMCnt || c == ExpCnt || c == WaitCnt || c == Barrier
		if c.IsBubble() != want {
			t.Errorf("%s.IsBubble() = %v", c, c.IsBubble())
		}
	}
}

func TestClassifyVectors(t *testing.T) {
	dir := os.Getenv("KDAPILOT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	b, err := os.ReadFile(filepath.Join(dir, "att", "classify_vectors.json"))
	if err != nil {
		t.Skipf("CLASSIFIER VECTORS NOT TESTED: %v; set KDAPILOT_DATA", err)
	}
	var vectors []struct {
		ASM   string
		Class Class
	}
	if err := json.Unmarshal(b, &vectors); err != nil || len(vectors) < 80 {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	for _, v := range vectors {
		if got := Classify(v.ASM); got != v.Class {
			t.Errorf("%q is %s, want %s", v.ASM, got, v.Class)
		}
	}
}

// rows makes rows from (isa, source, hit, latency, stall).
func rows(specs ...[5]any) []Row {
	var out []Row
	for i, s := range specs {
		r := Row{ISA: s[0].(string), Source: s[1].(string), Line: int64(i + 1), Addr: int64(16 * (i + 1))}
		r.Hit, r.Latency, r.Stall = int64(s[2].(int)), int64(s[3].(int)), int64(s[4].(int))
		r.Class = Classify(r.ISA)
		out = append(out, r)
	}
	return out
}

func sample() []Row {
	return rows(
		[5]any{"buffer_load_dwordx4 v[0:3], v1, s[4:7], 0 offen", "/w/k.py:20", 4, 40, 0},
		[5]any{"s_barrier", "/w/k.py:21", 4, 200, 100},
		[5]any{"s_waitcnt vmcnt(0)", "/w/k.py:22", 4, 100, 100},
		[5]any{"v_add_f32_e32 v0, v1, v2", "", 4, 30, 10},
		[5]any{"ds_read_b128 v[4:7], v8", "/w/k.py:22", 4, 30, 10},
	)
}

func TestCompute(t *testing.T) {
	b := Compute("d", sample(), IdleWaves{})
	if b.Totals != (Totals{Instructions: 5, TotalLatency: 400, TotalStall: 220, HitCount: 20, StallPct: 55}) {
		t.Errorf("totals %+v", b.Totals)
	}
	// Equal cycles keep the order of the rows: barrier stands before the wait.
	want := ByClass{
		{Barrier, 100, 45.45, 1, true}, {VMCnt, 100, 45.45, 2, true}, {VALU, 10, 4.55, 3, false}, {LDS, 10, 4.55, 4, false},
	}
	if !reflect.DeepEqual(b.Taxonomy.ByClass, want) {
		t.Errorf("by_class %+v", b.Taxonomy.ByClass)
	}
	if len(b.BySource) != 2 || b.BySource[0] != (SourceShare{"/w/k.py:22", 110, 50, VMCnt}) || b.BySource[1].DomClass != Barrier {
		t.Errorf("by_source %+v", b.BySource)
	}
	if len(b.Hotspots) != 4 || b.Hotspots[0].CodeLine != 2 || b.Hotspots[1].Addr != "0x30" || b.Hotspots[0].StallPct != 50 {
		t.Errorf("hotspots %+v", b.Hotspots)
	}
	if top, _ := b.Top(); top.Class != Barrier {
		t.Errorf("top %+v", top)
	}
	if len(b.InstMix) != 5 || b.InstMix[0] != (ClassFraction{VMemLoad, 0.2}) {
		t.Errorf("inst_mix %+v", b.InstMix)
	}
}

func TestComputeKeepsTwentyFive(t *testing.T) {
	var many []Row
	for i := range 60 {
		many = append(many, Row{ISA: "s_nop 0", Class: SALU, Line: int64(i + 1), Source: "/k.py:" + strconv.Itoa(i), Stall: int64(60 - i), Latency: 60})
	}
	b := Compute("d", many, IdleWaves{})
	if len(b.Hotspots) != 25 || len(b.BySource) != 25 || b.Hotspots[24].Stall != 36 {
		t.Errorf("%d hotspots, %d sources", len(b.Hotspots), len(b.BySource))
	}
}

func TestWithWaits(t *testing.T) {
	r := sample()
	r = append(r, Row{ISA: "later row of the same number", Line: 1, Source: "/w/k.py:99"})
	b := Compute("d", r, IdleWaves{})
	w := b.WithWaits(r, map[int64][]int64{3: {1, 77}})
	want := []Producer{{1, "later row of the same number", "/w/k.py:99"}, {77, "?", ""}}
	if !reflect.DeepEqual(w.Hotspots[1].Producers, want) || w.Hotspots[0].Producers != nil {
		t.Errorf("%+v", w.Hotspots)
	}
	if b.Hotspots[1].Producers != nil {
		t.Error("WithWaits changed the receiver")
	}
}

func TestJSONRoundTrip(t *testing.T) {
	b := Compute("d", sample(), IdleWaves{Available: true, Peak: 4, Mean: 2, Samples: 8, HasOccupancyJSON: true})
	b.Hotspots[0].Inst = "a -> b <c>"
	var out bytes.Buffer
	if err := WriteJSON(&out, b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"a -> b <c>"`, `"mean_waves": 2.0`, `"stall_reason_available": false`, `"pct": 45.45`} {
		if !bytes.Contains(out.Bytes(), []byte(want)) {
			t.Errorf("no %s in %s", want, out.Bytes())
		}
	}
	var back Bubbles
	if err := json.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, b) {
		t.Errorf("got  %+v\nwant %+v", back, b)
	}
	empty, err := json.Marshal(Compute("d", []Row{{ISA: "s_nop 0", Class: SALU, Line: 1}}, IdleWaves{}))
	want := `{"dispatch_dir":"d","totals":{"instructions":1,"total_latency":0,"total_stall":0,"total_idle":0,"hitcount":0,"stall_pct":0.0},` +
		`"stall_taxonomy":{"by_class":{}},"hotspots":[],"by_source":[],"inst_mix":{"salu":1.0},"occupancy":{"available":false},"stall_reason_available":false}`
	if err != nil || string(empty) != want {
		t.Errorf("%s, want %s", empty, want)
	}
}

// TestRegistersAgainstExpressions checks the hand-written scan against the
// expressions that define it.
func TestRegistersAgainstExpressions(t *testing.T) {
	one, first := regexp.MustCompile(`\bv(\d+)\b`), regexp.MustCompile(`\bv\[(\d+)`)
	for _, s := range []string{
		"v_mfma_f32_16x16x16_f16 a[248:251], v[2:3], v[40:41], a[248:251]", "v_add_f32_e32 v0, v1, v255", "s_mov_b32 s15, 0x27000", "v12a v13_ xv14 v15",
		"buffer_load v[7], v[8:", "v[9:x v[", "v", "global_load_dwordx4 v[98:101],v67", "v_perm_b32 v9,v10,v11 // v12", "v99999999999999999999",
		"ds_write_b128 v1, v[2:5] offset:16", "V3 v004 av5 |v6| -v7",
	} {
		want := 0
		for _, re := range []*regexp.Regexp{one, first} {
			for _, m := range re.FindAllStringSubmatch(s, -1) {
				if n, err := strconv.Atoi(m[1]); err == nil {
					want = max(want, n)
				}
			}
		}
		var got span
		got.scan(s, 'v')
		if len(s) < 20+len("v99999") && regexp.MustCompile(`\d{12}`).MatchString(s) {
			if got.first < 1e6 {
				t.Errorf("%q: absurd number lost: %+v", s, got)
			}
			continue
		}
		if got.first != want {
			t.Errorf("%q: first %d, want %d", s, got.first, want)
		}
	}
}

func TestEstimateRegisters(t *testing.T) {
	r := EstimateRegisters(rows([5]any{"v_mfma_f32_32x32x8_f16 a[0:15], v[152:155], v1", "", 1, 4, 0}))
	if r.Arch != 153 || r.ArchLast != 156 || r.Accum != 0 || r.AccumLast != 16 || r.Estimate != 4 || r.Bound != 8 {
		t.Errorf("%+v", r)
	}
	r = EstimateRegisters(rows([5]any{"v_mfma_scale_f32_16x16x128 v[0:3], v[100:103]", "", 1, 4, 0}))
	if r.Estimate != 16 {
		t.Errorf("combined file: %+v", r)
	}
	if r := EstimateRegisters(nil); r.Estimate != 32 || r.Bound != 32 {
		t.Errorf("no registers: %+v", r)
	}
}

func TestSnippet(t *testing.T) {
	files := []SourceFile{{Path: "", Lines: []string{"x"}}, {Path: "/root/repo/kernels/k.py", Lines: []string{"a", "b", "c", "d"}}}
	for _, source := range []string{"/root/repo/kernels/k.py:2", "kernels/k.py:2", "/x.py:9 -> /elsewhere/root/repo/kernels/k.py:2"} {
		s, ok := FindSnippet(source, files)
		if !ok || s.Line != 2 || len(s.Lines) != 4 || s.Lines[0].N != 1 || !s.Lines[1].Hot || s.Lines[2].Hot {
			t.Errorf("%s: %+v %v", source, s, ok)
		}
	}
	for _, source := range []string{"", "k.py", "k.py:x", ":2", "/root/repo/kernels/k.py:5", "/root/repo/kernels/k.py:0", "other.py:1"} {
		if s, ok := FindSnippet(source, files); ok {
			t.Errorf("%s: %+v", source, s)
		}
	}
}
