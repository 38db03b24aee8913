package att

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"kdapilot/engine/fact"
	"kdapilot/engine/stall"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const twoKernels = "testdata/two_kernels/ui_output_agent_1_dispatch_2"

// TestTwoKernels is a trace with fourteen columns, an inline chain, a second
// kernel whose label flyprof counts as an instruction, wave files whose keys
// stand in another order, and a broken one.
func TestTwoKernels(t *testing.T) {
	ctx := context.Background()
	d, err := Open(ctx, twoKernels)
	if err != nil {
		t.Fatal(err)
	}
	if c := d.Code; len(c.Rows) != 7 || c.AllRows != 8 || c.Columns != 14 || !reflect.DeepEqual(c.Labels, []string{"first_0", "second_0"}) || c.Dropped != 0 {
		t.Errorf("%+v", c)
	}
	w, err := d.Waits(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := stall.Waits{
		Edges: map[int64][]int64{2: {1}, 6: {1, 5}}, Files: 4, Broken: 1, InstsMin: 1, InstsMax: 6,
		Cycles: stall.StateCycles{Idle: 12, Exec: 20, Wait: 200, Stall: 92},
	}
	if !reflect.DeepEqual(w, want) {
		t.Errorf("waits %+v, want %+v", w, want)
	}
	f, err := d.Facts(ctx)
	if err != nil || len(f.Problems) != 0 {
		t.Fatal(err, f.Problems)
	}
	if o := f.Occupancy; o.Waves != 5 || o.CUs != 2 || o.PeakPerCU != 3 || o.PeakPerSIMD != 2 || *o.Span != 212 || o.Odd != 0 {
		t.Errorf("%+v", o)
	}
	if *f.ClockMHz != 2000 || *f.SpanMicros() != 0.11 || *f.Listed != 2 || f.GfxIP != 9 {
		t.Errorf("clock %v span %v listed %v", *f.ClockMHz, *f.SpanMicros(), *f.Listed)
	}
	b := stall.Compute(d.Name, d.Code.Rows, f.Idle).WithWaits(d.Code.Rows, w.Edges)
	golden(t, "testdata/two_kernels/bubbles.golden.json", marshal(t, b))
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("differs from %s:\n%s", path, got)
	}
}

func TestColumnsByName(t *testing.T) {
	d, err := Open(context.Background(), "testdata/other_order/ui_output_agent_1_dispatch_2")
	if err != nil {
		t.Fatal(err)
	}
	want := []stall.Row{
		{ISA: "s_barrier", Line: 1, Source: "/w/k.py:1", CodeObj: 3, Addr: 64, Hit: 4, Latency: 40, Stall: 36, Class: stall.Barrier},
		{ISA: "s_waitcnt vmcnt(0)", Line: 2, Source: "/w/k.py:2", Addr: 72, Hit: 4, Latency: 400, Stall: 396, Class: stall.VMCnt},
	}
	if !reflect.DeepEqual(d.Code.Rows, want) || d.Code.Version != "9.9" || d.Code.AllRows != 3 {
		t.Errorf("%+v", d.Code)
	}
}

func TestParseCodeErrors(t *testing.T) {
	for _, c := range []struct {
		name, in string
		code     string
		exit     int
		says     string
	}{
		{"empty file", "", Internal, 70, "found the end of the file"},
		{"not json", "hello", Internal, 70, "byte 0"},
		{"cut off", `{"code":[["s_nop 0",0,1`, Internal, 70, "not a whole JSON object"},
		{"trailing", `{"code":[]} x`, Internal, 70, "not a whole JSON object"},
		{"list", `[]`, Internal, 70, "byte 0"},
		{"null", `{"code":null}`, Internal, 70, "null"},
		{"no code", `{"header":"x"}`, Internal, 70, `no "code"`},
		{"number", `{"code":7}`, Internal, 70, "not a list"},
		{"row is null", `{"code":[null]}`, Internal, 70, "row 1"},
		{"no rows", `{"code":[]}`, NoArtifact, 66, "0 rows"},
		{"labels only", `{"code":[["; k_0",0,0,"",7,1,0,0,0,0]]}`, NoArtifact, 66, "1 rows"},
		{"isa is a number", `{"code":[[5,0,1,"",7,1,0,0,0,0]]}`, Internal, 70, "row 1: the instruction"},
		{"hit is null", `{"code":[["s_nop",0,1,"",7,1,null,0,0,0]]}`, Internal, 70, "Hit (column 6) is not an integer"},
		{"stall has a fraction", `{"code":[["s_nop",0,1,"",7,1,1,4,0.5,0]]}`, Internal, 70, "Stall"},
		{"latency overflows", `{"code":[["s_nop",0,1,"",7,1,1,99999999999999999999,0,0]]}`, Internal, 70, "Latency"},
		{"deep", `{"x":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `,"code":[]}`, Internal, 70, "nested"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseCode([]byte(c.in))
			var e *Error
			if !errors.As(err, &e) || e.Code != c.code || e.Exit != c.exit || !strings.Contains(e.Msg, c.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestParseCodeKeeps(t *testing.T) {
	code, err := ParseCode([]byte(`{"code":[
		["s_nop 0",0,"1","/k.py:1",7,1,4,4,4,0],
		["s_nop 1",0,2,"/k.py:1",7,1,4,4,4],
		["s_nop 2",0,3.0,"",7,1,4,4,4,0],
		["s_nop 3",0,0,"",7,1,4,4,4,0],
		["a \"b\" \u00b5 \u001b[2J\nc",0,-4,null,7,-1,4,4,4,0]]}`))
	if err != nil || len(code.Rows) != 1 || code.Dropped != 4 || code.AllRows != 5 || code.AllMapped != 2 {
		t.Fatalf("%+v %v", code, err)
	}
	if r := code.Rows[0]; r.ISA != `a "b" µ  c` || r.Line != -4 || r.Addr != -1 {
		t.Errorf("%+v", r)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	var e *Error
	if _, err := Open(context.Background(), dir); !errors.As(err, &e) || e.Code != NoArtifact || e.Exit != 66 {
		t.Errorf("%v", err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "code.json"), 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := Open(context.Background(), dir); !errors.As(err, &e) || e.Exit != 70 {
		t.Errorf("a pipe: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, twoKernels); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := (&Dispatch{Dir: twoKernels}).Waits(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestSources(t *testing.T) {
	s, err := (&Dispatch{Dir: twoKernels}).Sources(context.Background())
	if err != nil || len(s) != 3 {
		t.Fatal(s, err)
	}
	if s[0].Traced != "/w/repo/kernels/a.py" || !strings.HasPrefix(string(s[0].Bytes), "# a\n") || s[0].Origin.SHA256 == "" {
		t.Errorf("%+v", s[0])
	}
	if s[2].Bytes != nil || s[2].Origin.Status != fact.Unreadable {
		t.Errorf("a name that leaves the folder was read: %+v", s[2])
	}
	none, err := (&Dispatch{Dir: t.TempDir()}).Sources(context.Background())
	if none != nil || err != nil {
		t.Errorf("%v %v", none, err)
	}
}

func TestFactsSayWhatIsBroken(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"wstates1.json": `{"state":[1,2`, "occupancy.json": `{"0":[[1,9999,0,0,1,1],[1,2]],"dispatches":{}}`, "realtime.json": `[]`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := (&Dispatch{Dir: dir}).Facts(context.Background())
	if err != nil || len(f.Problems) != 2 || f.Occupancy.Odd != 2 || f.Idle.Available || !f.Idle.HasOccupancyJSON || f.Listed != nil {
		t.Errorf("%+v %v", f, err)
	}
}

func TestWaveFileNames(t *testing.T) {
	for name, want := range map[string]bool{
		"se0_sm0_sl0_wv0.json": true, "se10_sm3_x.json": true, "se0_perfcounter.json": false, "se0_sm1.json": false,
		"code.json": false, "se0_sm0_sl0_wv0.json.tmp": false, "se_sm_.json": true,
	} {
		if got := isWaveFile(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestLongWave needs more than the first piece of the tail.
func TestLongWave(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"duration":8,"name":"SE0","num_insts":20000,"num_stitched":1,"wave":{"instructions":[],"timeline":[[2,8]`)
	b.WriteString(strings.Repeat(",[3,4]", 20000))
	b.WriteString(`],"waitcnt":[[9,[[1,0]]]`)
	for range 20000 {
		b.WriteString(`,[9,[[2,0],[1,0]]]`)
	}
	b.WriteString("]}}\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "se0_sm0_sl0_wv0.json"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := (&Dispatch{Dir: dir}).Waits(context.Background())
	if err != nil || !reflect.DeepEqual(w.Edges, map[int64][]int64{9: {1, 2}}) || w.InstsMax != 20000 || w.Cycles.Wait != 80000 || w.Broken != 0 {
		t.Errorf("%+v %v", w, err)
	}
}

func TestEdgeSetLarge(t *testing.T) {
	var e edgeSet
	for range 2 {
		for i := range int64(1000) {
			e.add(i)
		}
	}
	if len(e.lines) != 1000 {
		t.Errorf("%d lines", len(e.lines))
	}
}

func FuzzCode(f *testing.F) {
	f.Add([]byte(`{"code":[["; k_0",0,0,"",7,1,0,0,0,0],["s_barrier",0,1,"/k.py:1",7,1,4,40,36,0]],"header":"ISA, _, LineNumber","version":"3"}`))
	f.Add([]byte(`{"code":null}`))
	f.Add([]byte(`{"header":"LineNumber, Hit, Latency, Stall, Idle, ISA, Source, Codeobj, Vaddr","code":[[1,4,40,36,0,"s_\u00e9","",3,64,1]]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		code, err := ParseCode(b)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Exit != 66 && e.Exit != 70 {
				t.Fatalf("%#v", err)
			}
			return
		}
		if !json.Valid(b) {
			t.Fatalf("accepted what is not JSON: %q", b)
		}
		bubbles := stall.Compute("d", code.Rows, stall.IdleWaves{})
		out, err := json.Marshal(bubbles)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(string(out), "\x1b\x07\n") {
			t.Fatalf("control characters in %q", out)
		}
		stall.NewTrust(&code)
	})
}

func FuzzScanner(f *testing.F) {
	f.Add([]byte(`{"a":[1,-2.5e+3,true,null,"x\u00e9\n"],"b":{}}`))
	f.Add([]byte(`[01]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := scanner{b: b}
		ok := s.skip() == nil && s.end() == nil
		if ok && !json.Valid(b) || !ok && json.Valid(b) && strings.Count(string(b), "[")+strings.Count(string(b), "{") < maxDepth {
			t.Fatalf("scanner says %v about %q", ok, b)
		}
	})
}

func FuzzWave(f *testing.F) {
	f.Add([]byte(`{"duration":8,"num_insts":1,"wave":{"timeline":[[1,8]],"waitcnt":[[3,[[2,0],[1,0]]],[]]}}`))
	f.Add([]byte(`{"wave":{"waitcnt":null,"timeline":[]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tail, ok := parseTail(b)
		whole, okWhole := parseWave(b)
		if ok && okWhole && strings.Count(string(b), `"waitcnt"`) == 1 && strings.Count(string(b), `"wave"`) == 1 &&
			strings.Count(string(b), `"timeline"`) == 1 && strings.Contains(string(b), `"wave":{"timeline"`) {
			tail.insts = whole.insts
			if !reflect.DeepEqual(tail, whole) {
				t.Fatalf("tail %+v, whole %+v", tail, whole)
			}
		}
		headInsts(b)
	})
}

func FuzzSideFiles(f *testing.F) {
	f.Add([]byte(`{"0":[[100,2,0,0,1,1],[200,2,0,0,0,1]],"dispatches":{"0":"0 / 0x0"},"SE0":[[1,2],[3,4]],"metadata":{"frequency":1},"state":[1],"wave_filenames":{"0":["x"]}}`))
	f.Add([]byte(`{"/":{"w":{"a.py":"source_0_a.py"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var x Facts
		for _, read := range []func([]byte) error{x.idle, x.occupancy, x.realtime, x.filenames} {
			if read(b) == nil && !json.Valid(b) {
				t.Fatalf("accepted what is not JSON: %q", b)
			}
		}
		x.SpanMicros()
		sources, err := ParseSnapshots(b)
		if err == nil && (!json.Valid(b) || len(sources) > maxSources) {
			t.Fatalf("%d sources from %q", len(sources), b)
		}
	})
}
