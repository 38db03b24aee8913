package stall

// Trust says how far the numbers in Bubbles carry: how much of the kernel the
// sampled waves executed, how much maps to source, and which occupancy number
// was measured.
type Trust struct {
	// Kernel is the name on the trace's first label row, else from capture.json.
	Kernel string `json:"kernel"`
	// Kernels are all label rows when there is more than one.
	Kernels []string `json:"kernels,omitempty"`
	// Dispatch is the base name of the dispatch directory; Tag the capture tag
	// (big, small) if it is known.
	Dispatch string `json:"dispatch"`
	Tag      string `json:"tag,omitempty"`
	Shape    string `json:"shape,omitempty"`

	// Rows counts all rows, Instructions those that are not labels.
	Rows         int `json:"rows"`
	Instructions int `json:"instructions"`
	Executed     int `json:"executed_instructions"`
	// ExecutedPct is Executed in per cent of Instructions, one decimal; nil when
	// the trace was not there to count.
	ExecutedPct *Num `json:"executed_pct"`
	Mapped      int  `json:"mapped_rows"`
	MappedPct   *Num `json:"mapped_pct"`

	// WaveFiles are present beside the trace, WavesListed were captured; nil
	// when nobody said.
	WaveFiles   *int `json:"wave_files_present"`
	WavesListed *int `json:"wave_files_listed"`
	WavesBroken int  `json:"wave_files_broken,omitempty"`
	// WaveInstsMin and WaveInstsMax are executed instructions per wave.
	WaveInstsMin *int64       `json:"wave_instructions_min,omitempty"`
	WaveInstsMax *int64       `json:"wave_instructions_max,omitempty"`
	WaveCycles   *StateCycles `json:"wave_state_cycles_present_waves,omitempty"`

	Occupancy Occupancy `json:"occupancy"`

	// Decoder is the profiler that made the trace ("rocprofv3 1.1.0") if known,
	// FormatVersion the version text inside the trace, Arch the part.
	Decoder       string `json:"decoder,omitempty"`
	FormatVersion string `json:"format_version,omitempty"`
	Arch          string `json:"arch,omitempty"`
	// ClockMHz is the shader clock during the trace; SpanCycles and SpanMicros
	// the time from first wave start to last wave end: a lower bound on the
	// kernel's time, not a benchmark.
	ClockMHz   *Num   `json:"gfx_clock_mhz,omitempty"`
	SpanCycles *int64 `json:"span_cycles,omitempty"`
	SpanMicros *Num   `json:"span_us,omitempty"`

	// WaitsPending says that the wave files have not been read yet, so waits
	// still lack their producers.
	WaitsPending bool `json:"waits_pending"`
	// Weak is true when strong words would be wrong: under half of the kernel
	// was executed by the sampled waves, or nothing was.
	Weak bool `json:"weak"`
	// Caveats are the sentences to show beside the bars, most important first.
	Caveats []string `json:"caveats"`
}

// WeakBelowPct is the executed coverage in per cent under which a trace
// supports no verdict.
const WeakBelowPct = 50

// Occupancy sets the measured residency beside the estimates.
type Occupancy struct {
	// Which says which number to believe: "measured" or "estimate" or "unknown".
	Which string `json:"which"`
	// PeakPerCU and PeakPerSIMD are the most waves resident at one time, from
	// occupancy.json; WavesTotal and CUs what it covers.
	PeakPerCU   *int `json:"peak_waves_per_cu_measured"`
	PeakPerSIMD *int `json:"peak_waves_per_simd_measured"`
	WavesTotal  *int `json:"occupancy_waves_total,omitempty"`
	CUs         *int `json:"occupancy_cus,omitempty"`
	// Estimate is the profiler's waves per CU, from capture.json or from the
	// same formula; often too low by half.
	Estimate *int `json:"flyprof_estimate_waves_per_cu"`
	// Bound is the limit that the register file sets (512 combined registers).
	Bound     *int       `json:"register_bound_waves_per_cu,omitempty"`
	Registers *Registers `json:"registers,omitempty"`
	// Dispatches maps the ids in occupancy.json to kernel symbols.
	Dispatches map[string]string `json:"dispatches,omitempty"`
}

// Finding is something seen while reading that a person should know: a stored
// artifact that disagrees with the trace, a kernel label counted as code.
type Finding struct {
	// Kind is a short stable name, for example "bubbles-differ".
	Kind string `json:"kind"`
	// Bad marks a contradiction; others are notes.
	Bad  bool   `json:"bad"`
	Text string `json:"text"`
	// Path and Line say where it was seen.
	Path string `json:"path,omitempty"`
	Line int    `json:"line,omitempty"`
}

// NewTrust starts a trust line from the rows alone. Label rows of later kernels
// are not counted as instructions here, although the artifact counts them.
func NewTrust(c *Code) Trust {
	t := Trust{Rows: c.AllRows, FormatVersion: c.Version, Occupancy: Occupancy{Which: "unknown"}, Caveats: []string{}}
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.IsLabel() {
			continue
		}
		t.Instructions++
		if r.Hit > 0 {
			t.Executed++
		}
		if r.Source != "" {
			t.Mapped++
		}
	}
	executed, mapped := share(int64(t.Executed), int64(t.Instructions), 1), share(int64(t.Mapped), int64(t.Instructions), 1)
	t.ExecutedPct, t.MappedPct = &executed, &mapped
	if len(c.Labels) > 0 {
		t.Kernel = c.Labels[0]
	}
	if len(c.Labels) > 1 {
		t.Kernels = c.Labels
	}
	regs := EstimateRegisters(c.Rows)
	t.Occupancy.Registers = &regs
	t.Occupancy.Bound = &regs.Bound
	return t
}
