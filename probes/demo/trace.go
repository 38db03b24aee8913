package demo

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kdapilot/engine/stall"
)

// The categories of a wave instruction in a decoded trace.
const (
	catSMEM   = 1
	catSALU   = 2
	catVMEM   = 3
	catLDS    = 5
	catVALU   = 6
	catBranch = 7
	catFall   = 8
	catWait   = 9
	catEnd    = 11
)

// inst is one line of the made-up kernel. issue and wait are shader-clock
// cycles, multiples of 4; wait is the mean stall of one execution.
type inst struct {
	asm         string
	mark        string // the source line it maps to is the first that holds this
	cat         int
	issue, wait int
	waitsOn     []int // offsets back to the memory operations of this wait
	loop        bool
}

// program is the disassembly of the demo's kernel with stalls that follow its
// constants: deeper prefetch shortens the wait for global loads, grouped stores
// the wait at the end.
func program(k knobs) []inst {
	vm, store := 840/k.prefetch, 600/k.storeGroup
	in := func(asm, mark string, cat, issue, wait int, on ...int) inst {
		return inst{asm: asm, mark: mark, cat: cat, issue: issue, wait: wait, waitsOn: on}
	}
	head := []inst{
		in("s_load_dwordx4 s[4:7], s[0:1], 0x0", "tile = buffer_load(q", catSMEM, 4, 0),
		in("s_load_dwordx4 s[8:11], s[0:1], 0x10", "tile = buffer_load(q", catSMEM, 4, 0),
		in("v_lshlrev_b32_e32 v0, 4, v0", "tile = buffer_load(q", catVALU, 4, 0),
		in("s_waitcnt lgkmcnt(0)", "wait_scalar_args()", catWait, 0, 480, 3, 2),
		in("buffer_load_dwordx4 v[8:11], v0, s[4:7], 0 offen", "tile = buffer_load(q", catVMEM, 4, 12),
		in("buffer_load_dwordx4 v[12:15], v0, s[4:7], 0 offen offset:1024", "tile = buffer_load(q", catVMEM, 4, 20),
		in("s_waitcnt vmcnt(0)", "return to_registers(tile)", catWait, 0, 640, 2, 1),
	}
	body := []inst{
		in("buffer_load_dwordx4 v[16:19], v1, s[8:11], 0 offen", "k_next = buffer_load(k", catVMEM, 4, 28),
		in("buffer_load_dwordx4 v[20:23], v1, s[8:11], 0 offen offset:2048", "v_next = buffer_load(v", catVMEM, 4, 44),
		in(fmt.Sprintf("s_waitcnt vmcnt(%d)", k.prefetch-1), "wait_vmem(KV_PREFETCH_DEPTH", catWait, 0, vm, 2, 1),
		in("ds_write_b128 v2, v[16:19]", "lds.write(k_next)", catLDS, 8, 16),
		in("ds_write_b128 v2, v[20:23] offset:4096", "lds.write(v_next)", catLDS, 8, 12),
		in("s_barrier", "barrier()", catWait, 4, 260),
		in("ds_read_b128 v[24:27], v3", "k_regs = lds.read()", catLDS, 8, 8),
		in("ds_read_b128 v[28:31], v3 offset:1024", "k_regs = lds.read()", catLDS, 8, 8),
		in("s_waitcnt lgkmcnt(0)", "k_regs = lds.read()", catWait, 0, 150, 2, 1),
		in("s_setprio 1", "return mfma_32x32x16(acc", catSALU, 4, 0),
		in("v_mfma_f32_32x32x16_bf16 a[0:15], v[24:27], v[8:11], a[0:15]", "return mfma_32x32x16(acc", catVALU, 16, 36),
		in("v_mfma_f32_32x32x16_bf16 a[16:31], v[28:31], v[12:15], a[16:31]", "return mfma_32x32x16(acc", catVALU, 16, 52),
		in("s_setprio 0", "return mfma_32x32x16(acc", catSALU, 4, 0),
		in("v_max3_f32 v32, v24, v25, v32", "new_max = max3", catVALU, 4, 24),
		in("v_sub_f32_e32 v33, v24, v32", "scores = exp2", catVALU, 4, 4),
		in("v_exp_f32_e32 v33, v33", "scores = exp2", catVALU, 16, 8),
		in("v_add_f32_e32 v34, v34, v33", "return scores, new_max", catVALU, 4, 4),
		in("ds_read_b64_tr_b16 v[36:37], v4", "v_regs = lds.read_transposed()", catLDS, 8, 8),
		in("s_waitcnt lgkmcnt(0)", "v_regs = lds.read_transposed()", catWait, 0, 110, 1),
		in("v_mfma_f32_32x32x16_bf16 a[32:47], v[36:39], v[40:43], a[32:47]", "return mfma_32x32x16(out", catVALU, 16, 44),
		in("s_add_i32 s12, s12, 1", "for step in range(steps)", catSALU, 4, 0),
		in("s_cmp_lt_i32 s12, s13", "for step in range(steps)", catSALU, 4, 0),
		in("s_cbranch_scc1 65514", "for step in range(steps)", catBranch, 8, 12),
	}
	for i := range body {
		body[i].loop = true
	}
	tail := []inst{
		in("v_rcp_f32_e32 v34, v34", "store_o(out / row_sum", catVALU, 16, 0),
		in("v_mul_f32_e32 v44, v34, v44", "store_o(out / row_sum", catVALU, 4, 8),
		in("buffer_store_dwordx4 v[44:47], v5, s[4:7], 0 offen", "buffer_store(o", catVMEM, 4, 120),
		in("buffer_store_dwordx4 v[48:51], v5, s[4:7], 0 offen offset:1024", "buffer_store(o", catVMEM, 4, 180),
		in("s_waitcnt vmcnt(0)", "for group in range(0, HEAD_DIM", catWait, 0, store, 2, 1),
		in("s_endpgm", "store_o(out / row_sum", catEnd, 4, 0),
	}
	return slices.Concat(head, body, tail)
}

// tracer simulates waves and adds them up.
type tracer struct {
	prog   []inst
	rows   []stall.Row
	waves  []wave
	source map[string][]byte // bytes by absolute path
}

// wave is one simulated wave, in the words of the decoded format.
type wave struct {
	se, simd, slot, id int
	begin, end         int64
	insts              [][5]int64
	timeline           [][2]int64
	waits              [][2]any
}

const kernelSymbol = "flash_attn_dualwave_swp_gfx950_kernel_0"

// newTracer lays out the rows; path is the absolute path of the kernel's source
// at capture time, src its bytes.
func newTracer(path string, src []byte, k knobs) *tracer {
	t := &tracer{prog: program(k), source: map[string][]byte{path: src}}
	addr := int64(5632)
	for i, in := range t.prog {
		t.rows = append(t.rows, stall.Row{
			ISA: in.asm, Line: int64(i + 1), CodeObj: 3, Addr: addr, Class: stall.Classify(in.asm),
			Source: fmt.Sprintf("%s:%d", path, lineHolding(src, in.mark)),
		})
		addr += 8
	}
	return t
}

func lineHolding(src []byte, mark string) int {
	i := bytes.Index(src, []byte(mark))
	if i < 0 {
		return 1
	}
	return 1 + bytes.Count(src[:i], []byte("\n"))
}

// run simulates one wave with the given number of loop iterations.
func (t *tracer) run(r *rand.Rand, se, simd, slot, iterations int) {
	w := wave{se: se, simd: simd, slot: slot, begin: 70000 + int64(slot)*120 + int64(simd)*8 + int64(se)*4}
	now := w.begin
	gap := func(cycles int64) { // the time between two instructions
		if cycles > 0 {
			w.timeline = append(w.timeline, [2]int64{1, cycles})
			now += cycles
		}
	}
	prev := w.begin
	step := func(i int) {
		in, row := t.prog[i], &t.rows[i]
		wait := four(float64(in.wait) * (1 + 0.12*r.NormFloat64()))
		dur := wait + int64(in.issue)
		row.Idle += max(0, now-prev)
		if wait > 0 {
			state := int64(4)
			if in.cat == catWait {
				state = 3
			}
			w.timeline = append(w.timeline, [2]int64{state, wait})
		}
		if in.issue > 0 {
			w.timeline = append(w.timeline, [2]int64{2, int64(in.issue)})
		}
		cat := int64(in.cat)
		w.insts = append(w.insts, [5]int64{now, cat, wait, dur, row.Line})
		if len(in.waitsOn) > 0 {
			edges := make([][2]int64, 0, len(in.waitsOn))
			for _, back := range in.waitsOn {
				edges = append(edges, [2]int64{row.Line - int64(back), 0})
			}
			w.waits = append(w.waits, [2]any{row.Line, edges})
		}
		row.Hit++
		row.Latency += dur
		row.Stall += wait
		now += dur
		prev = now
	}
	gap(32)
	loopStart, loopEnd := t.loop()
	for i := 0; i < loopStart; i++ {
		step(i)
	}
	for it := range iterations {
		for i := loopStart; i < loopEnd; i++ {
			step(i)
		}
		if it == iterations-1 {
			w.insts[len(w.insts)-1][1] = catFall
		} else if it%4 == 3 {
			gap(4)
		}
	}
	for i := loopEnd; i < len(t.prog); i++ {
		step(i)
	}
	w.end = now
	t.waves = append(t.waves, w)
}

func (t *tracer) loop() (start, end int) {
	for i, in := range t.prog {
		if in.loop {
			if end == 0 {
				start = i
			}
			end = i + 1
		}
	}
	return start, end
}

// four rounds to a multiple of 4 cycles, never negative.
func four(x float64) int64 { return 4 * int64(max(0, x)/4+0.5) }

// write makes the dispatch directory.
func (t *tracer) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := map[string]any{
		"code.json": t.code(), "filenames.json": t.filenames(), "occupancy.json": t.occupancy(), "realtime.json": t.realtime(),
	}
	for k := 1; k <= 4; k++ {
		files[fmt.Sprintf("wstates%d.json", k)] = t.states(int64(k))
	}
	for _, w := range t.waves {
		files[w.file()] = w.json()
	}
	tree, copies := t.snapshots()
	files["snapshots.json"] = tree
	for name, v := range files {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	for name, b := range copies {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (t *tracer) code() any {
	rows := [][]any{{"; " + kernelSymbol, 0, 0, "", 3, 5632, 0, 0, 0, 0}}
	for _, r := range t.rows {
		rows = append(rows, []any{r.ISA, 0, r.Line, r.Source, r.CodeObj, r.Addr, r.Hit, r.Latency, r.Stall, r.Idle})
	}
	return map[string]any{"code": rows, "header": "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle", "version": "3.0.0"}
}

func (w wave) file() string {
	return fmt.Sprintf("se%d_sm%d_sl%d_wv%d.json", w.se, w.simd, w.slot, w.id)
}

func (w wave) json() any {
	return map[string]any{
		"duration": w.end - w.begin, "name": fmt.Sprintf("SE%d", w.se), "num_insts": len(w.insts), "num_stitched": len(w.insts),
		"wave": map[string]any{"begin": w.begin, "cu": 1, "end": w.end, "id": w.id, "instructions": w.insts, "simd": w.simd, "slot": w.slot, "timeline": w.timeline, "waitcnt": w.waits},
	}
}

func (t *tracer) filenames() any {
	names := map[string]map[string]map[string]map[string][]any{}
	for _, w := range t.waves {
		se, sm, sl := fmt.Sprint(w.se), fmt.Sprint(w.simd), fmt.Sprint(w.slot)
		if names[se] == nil {
			names[se] = map[string]map[string]map[string][]any{}
		}
		if names[se][sm] == nil {
			names[se][sm] = map[string]map[string][]any{}
		}
		if names[se][sm][sl] == nil {
			names[se][sm][sl] = map[string][]any{}
		}
		names[se][sm][sl][fmt.Sprint(w.id)] = []any{w.file(), w.begin, w.end}
	}
	return map[string]any{"counter_names": []string{}, "gfxip": 9, "gfxv": "vega", "global_begin_time": 0, "version": "3.0.0", "wave_filenames": names}
}

// occupancy repeats the sampled CU's waves on seven neighbours, as a full grid
// would.
func (t *tracer) occupancy() any {
	out := map[string]any{"dispatches": map[string]string{"0": "0 / 0x0", "1": kernelSymbol}, "version": "3.0.0"}
	rows := map[int][][6]int64{}
	for _, w := range t.waves {
		for cu := range int64(8) {
			rows[w.se] = append(rows[w.se],
				[6]int64{w.begin + 4*cu, cu, int64(w.simd), int64(w.slot), 1, 1},
				[6]int64{w.end + 4*cu, cu, int64(w.simd), int64(w.slot), 0, 1})
		}
	}
	for se, list := range rows {
		slices.SortStableFunc(list, func(a, b [6]int64) int { return cmp.Compare(a[0], b[0]) })
		out[fmt.Sprint(se)] = list
	}
	return out
}

// realtime says 2.2 GHz: 22 shader cycles per tick of the 100 MHz clock.
func (t *tracer) realtime() any {
	out := map[string]any{"metadata": map[string]any{"descriptor": "[gfx_clock, realtime_clock]", "frequency": 100000000}}
	for _, w := range t.waves {
		const t0, span = 1000000000, 8000
		out[fmt.Sprintf("SE%d", w.se)] = [][2]int64{{4400, t0}, {4400 + 22*span, t0 + span}}
	}
	return out
}

// states is the number of waves in state k from each point in time on.
func (t *tracer) states(k int64) any {
	change := map[int64]int64{}
	for _, w := range t.waves {
		at := w.begin
		for _, s := range w.timeline {
			if s[0] == k {
				change[at]++
				change[at+s[1]]--
			}
			at += s[1]
		}
	}
	times := make([]int64, 0, len(change))
	for at := range change {
		times = append(times, at)
	}
	slices.Sort(times)
	state := make([]int64, len(times))
	var n int64
	for i, at := range times {
		n += change[at]
		state[i] = n
	}
	return map[string]any{"name": fmt.Sprintf("wstates%d.json", k), "state": state, "time": times}
}

// snapshots is the nested path dictionary and the source copies it names.
func (t *tracer) snapshots() (tree map[string]any, copies map[string][]byte) {
	root := map[string]any{}
	copies = map[string][]byte{}
	paths := make([]string, 0, len(t.source))
	for p := range t.source {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for i, p := range paths {
		name := fmt.Sprintf("source_%d_%s", i, filepath.Base(p))
		copies[name] = t.source[p]
		node := root
		parts := strings.Split(strings.TrimPrefix(filepath.ToSlash(p), "/"), "/")
		for _, part := range parts[:len(parts)-1] {
			next, ok := node[part].(map[string]any)
			if !ok {
				next = map[string]any{}
				node[part] = next
			}
			node = next
		}
		node[parts[len(parts)-1]] = name
	}
	return map[string]any{"/": root}, copies
}

// edges maps the line of every wait to its producers, ascending.
func (t *tracer) edges() map[int64][]int64 {
	out := map[int64][]int64{}
	for i, in := range t.prog {
		for _, back := range in.waitsOn {
			out[int64(i+1)] = append(out[int64(i+1)], int64(i+1-back))
		}
		slices.Sort(out[int64(i+1)])
	}
	return out
}
