package gpu

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/runs"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// Sample reads clocks, power, temperature, load and processes of all devices.
// The origin is that of the list of devices.
func (p Probe) Sample(ctx context.Context) ([]Reading, fact.Origin) {
	devices, origin := p.Scan(ctx)
	users, known := p.users(ctx, devices)
	out := p.readings(ctx, devices)
	for i := range out {
		out[i].Processes, out[i].ProcessesKnown = users[out[i].Index], known
	}
	return out, origin
}

// readings are clocks, power, temperature and load, without the processes.
func (p Probe) readings(ctx context.Context, devices []Device) []Reading {
	out := make([]Reading, 0, len(devices))
	fromSysfs := false
	for _, d := range devices {
		s := Reading{Index: d.Index, At: p.now()}
		if dir := p.drm(d); dir != "" {
			p.sysfs(dir, &s)
			fromSysfs = true
		}
		out = append(out, s)
	}
	if len(devices) > 0 && !fromSysfs {
		p.smi(ctx, out)
	}
	return out
}

// Sample reads this host once; see Probe.Sample.
func Sample(ctx context.Context) ([]Reading, fact.Origin) { return Probe{}.Sample(ctx) }

// sysfs reads amdgpu's files below a device folder.
func (p Probe) sysfs(dir string, s *Reading) {
	s.BusyPct = p.scaled(filepath.Join(dir, "gpu_busy_percent"), 1)
	s.VRAMUsed = p.whole(filepath.Join(dir, "mem_info_vram_used"))
	s.VRAMTotal = p.whole(filepath.Join(dir, "mem_info_vram_total"))
	s.PerfLevel = p.line(filepath.Join(dir, "power_dpm_force_performance_level"))
	s.ClockMHz = p.level(filepath.Join(dir, "pp_dpm_sclk"))
	s.MemClockMHz = p.level(filepath.Join(dir, "pp_dpm_mclk"))
	mons, err := filepath.Glob(filepath.Join(dir, "hwmon", "hwmon*"))
	if err != nil || len(mons) == 0 {
		return
	}
	p.hwmon(mons[0], s)
}

// hwmon holds micro-watts, milli-degrees and hertz.
func (p Probe) hwmon(dir string, s *Reading) {
	for _, name := range []string{"power1_average", "power1_input"} {
		if s.PowerWatts == nil {
			s.PowerWatts = p.scaled(filepath.Join(dir, name), 1e-6)
		}
	}
	s.PowerCapWatts = p.scaled(filepath.Join(dir, "power1_cap"), 1e-6)
	if f := p.scaled(filepath.Join(dir, "freq1_input"), 1e-6); f != nil {
		s.ClockMHz = f
	}
	for n := 1; n <= 8; n++ {
		at := filepath.Join(dir, "temp"+strconv.Itoa(n))
		v := p.scaled(at+"_input", 1e-3)
		if v == nil {
			continue
		}
		switch p.line(at + "_label") {
		case "mem":
			s.MemTempC = v
		case "junction":
			s.TempC = v
		default:
			if s.TempC == nil || *v > *s.TempC {
				s.TempC = v
			}
		}
	}
}

// level gives the clock of the line marked with a star in a pp_dpm file:
// "1: 2100Mhz *".
func (p Probe) level(path string) *float64 {
	b, _, err := readfile.All(path, fileLimit)
	if err != nil {
		return nil
	}
	return starred(string(b))
}

func starred(s string) *float64 {
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		rest, marked := strings.CutSuffix(line, "*")
		_, clock, ok := strings.Cut(rest, ":")
		if !marked || !ok {
			continue
		}
		clock = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(clock)), "mhz")
		if f, err := strconv.ParseFloat(strings.TrimSpace(clock), 64); err == nil && f >= 0 && f < 1e6 {
			return &f
		}
	}
	return nil
}

func (p Probe) scaled(path string, unit float64) *float64 {
	n, ok := p.number(path)
	if !ok {
		return nil
	}
	v := float64(n) * unit
	return &v
}

func (p Probe) whole(path string) *int64 {
	if n, ok := p.number(path); ok && n >= 0 {
		return &n
	}
	return nil
}

// smi fills samples from amd-smi or rocm-smi, by place in their lists.
func (p Probe) smi(ctx context.Context, out []Reading) {
	if b, err := p.run(ctx, "amd-smi", "metric", "--json"); err == nil && fillAMDSMI(b, out) {
		return
	}
	if b, err := p.run(ctx, "rocm-smi", "--showuse", "--showpower", "--showtemp", "--showclocks", "--showperflevel", "--showmeminfo", "vram", "--json"); err == nil {
		fillROCmSMI(b, out)
	}
}

func fillAMDSMI(b []byte, out []Reading) bool {
	v, err := tree("amd-smi", b)
	if err != nil {
		return false
	}
	done := false
	for i, g := range gpuList(v) {
		if i >= len(out) {
			break
		}
		s := &out[i]
		s.BusyPct = amount(at(g, "usage", "gfx_activity"))
		s.PowerWatts = amount(at(g, "power", "socket_power"))
		s.ClockMHz = amount(at(g, "clock", "gfx_0", "clk"))
		s.MemClockMHz = amount(at(g, "clock", "mem_0", "clk"))
		s.TempC = amount(at(g, "temperature", "hotspot"))
		s.MemTempC = amount(at(g, "temperature", "mem"))
		s.VRAMUsed = megabytes(at(g, "mem_usage", "used_vram"))
		s.VRAMTotal = megabytes(at(g, "mem_usage", "total_vram"))
		s.PerfLevel = text.Clip(text.Line(word(at(g, "perf_level"))), 40)
		done = done || s.BusyPct != nil || s.PowerWatts != nil || s.ClockMHz != nil
	}
	return done
}

func fillROCmSMI(b []byte, out []Reading) {
	v, err := tree("rocm-smi", b)
	if err != nil {
		return
	}
	for i, c := range cards(v) {
		if i >= len(out) {
			break
		}
		s := &out[i]
		s.BusyPct = amount(keyed(c, "gpu use"))
		s.PowerWatts = amount(keyed(c, "power (w)"))
		s.ClockMHz = amount(keyed(c, "sclk clock speed"))
		s.MemClockMHz = amount(keyed(c, "mclk clock speed"))
		s.TempC = amount(keyed(c, "sensor junction"))
		s.MemTempC = amount(keyed(c, "sensor memory"))
		s.VRAMUsed = bytesOf(keyed(c, "vram total used memory"))
		s.VRAMTotal = bytesOf(keyed(c, "vram total memory"))
		s.PerfLevel = text.Clip(text.Line(word(keyed(c, "performance level"))), 40)
	}
}

func megabytes(v any) *int64 {
	f := amount(v)
	if f == nil || *f < 0 || *f > 1<<40 {
		return nil
	}
	return ptr(int64(*f) << 20)
}

func bytesOf(v any) *int64 {
	n, err := strconv.ParseInt(word(v), 10, 64)
	if err != nil || n < 0 {
		return nil
	}
	return &n
}

// Samples reads how the GPUs of a run stand. Devices of which nothing can be
// read give an error that says so.
func Samples(ctx context.Context, gpus []runs.GPU) ([]runs.GPUSample, error) {
	return Probe{}.Samples(ctx, gpus)
}

// Samples is Samples on the host that p looks at.
func (p Probe) Samples(ctx context.Context, gpus []runs.GPU) ([]runs.GPUSample, error) {
	devices, origin := p.Scan(ctx)
	all := p.readings(ctx, devices)
	var out []runs.GPUSample
	for _, g := range gpus {
		for _, r := range all {
			if r.Index == g.Index {
				out = append(out, runs.GPUSample{GPU: r.Index, ClockMHz: r.ClockMHz, MemClockMHz: r.MemClockMHz, PowerWatts: r.PowerWatts, TempC: r.TempC, BusyPct: r.BusyPct, PerfLevel: r.PerfLevel})
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no device of the run can be read: %s", strings.TrimSpace(origin.Status.String()+" "+origin.Why))
	}
	return out, nil
}
