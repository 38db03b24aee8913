// Package gpu is the probe that asks which AMD GPUs this host has, how busy and
// how warm they are, and whose processes are on them. It reads the kernel's own
// files (KFD topology, DRM, hwmon) and falls back to rocminfo, amd-smi and
// rocm-smi, whichever is there.
//
// Guarantees: it never opens /dev/kfd, sets no clock and changes nothing; every
// read is bounded; a value that could not be read is nil, never zero.
//
// What may not enter: judgement. Whether a GPU is the planned one or a process
// spoils a measurement is decided elsewhere.
package gpu

import (
	"context"
	"fmt"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/runs"
)

// Device is one GPU as the host shows it.
type Device struct {
	runs.GPU
	// Node is the KFD node, KFDID its gpu_id: what KFD's process files name. Both
	// are -1 when a tool and not KFD told of the device.
	Node  int   `json:"node"`
	KFDID int64 `json:"kfd_id"`
	// PCI is the address, for example "0000:c1:00.0"; "" when not known.
	PCI string `json:"pci,omitempty"`
	// Render is the DRM render minor (renderD128 is 128), -1 when not known.
	Render int `json:"render"`
	// CUs counts compute units, XCCs the dies they sit on; nil when not known.
	CUs  *int `json:"cus,omitempty"`
	XCCs *int `json:"xccs,omitempty"`
	// VRAMBytes is the size of the memory of the device.
	VRAMBytes *int64 `json:"vram_bytes,omitempty"`
	// MaxClockMHz is the highest shader clock the device states.
	MaxClockMHz *int `json:"max_clock_mhz,omitempty"`
}

// Reading is what a device showed at one moment. Every nil is something that could not be
// read.
type Reading struct {
	Index int       `json:"index"`
	At    time.Time `json:"at"`
	// BusyPct is the share of time the shaders worked lately, in percent.
	BusyPct *float64 `json:"busy_pct,omitempty"`
	// ClockMHz is the shader clock now, MemClockMHz that of the memory.
	ClockMHz    *float64 `json:"clock_mhz,omitempty"`
	MemClockMHz *float64 `json:"mem_clock_mhz,omitempty"`
	// PowerWatts is the average or momentary board power, PowerCapWatts its limit.
	PowerWatts    *float64 `json:"power_watts,omitempty"`
	PowerCapWatts *float64 `json:"power_cap_watts,omitempty"`
	// TempC is the hottest die sensor (junction), MemTempC the memory's.
	TempC     *float64 `json:"temp_c,omitempty"`
	MemTempC  *float64 `json:"mem_temp_c,omitempty"`
	VRAMUsed  *int64   `json:"vram_used_bytes,omitempty"`
	VRAMTotal *int64   `json:"vram_total_bytes,omitempty"`
	// PerfLevel is the power profile in force, for example "auto": asking for a
	// fixed clock is refused on some parts, so it is read back.
	PerfLevel string `json:"perf_level,omitempty"`
	// Processes are those on the device; meaningful with ProcessesKnown.
	Processes      []Process `json:"processes,omitempty"`
	ProcessesKnown bool      `json:"processes_known"`
}

// Process is one process that holds memory or queues on a device.
type Process struct {
	PID     int    `json:"pid"`
	Command string `json:"command,omitempty"`
	// VRAMBytes is what it holds on the device; nil when not told.
	VRAMBytes *int64 `json:"vram_bytes,omitempty"`
	// Elsewhere is true when the id is one of another pid namespace: it names no
	// process that can be seen from here.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// Probe reads one host. The zero value reads this one.
type Probe struct {
	// Sys and Proc replace /sys and /proc.
	Sys, Proc string
	// Run replaces the starting of rocminfo, amd-smi and rocm-smi. It returns an
	// error that wraps exec.ErrNotFound when there is no such tool.
	Run func(ctx context.Context, name string, args ...string) ([]byte, error)
	// Now replaces the clock.
	Now func() time.Time
}

// Scan lists the GPUs of this host in the order in which HIP counts them, with
// where that comes from. An empty list with status ok means there is none; any
// other status means that nobody can tell.
func Scan(ctx context.Context) ([]runs.GPU, fact.Origin) {
	devices, origin := Probe{}.Scan(ctx)
	out := make([]runs.GPU, 0, len(devices))
	for _, d := range devices {
		out = append(out, d.GPU)
	}
	return out, origin
}

// Look lists processes on gpus for which ours is false. It fits the Look of a
// run's guard. An error means the list could not be had whole, so that an empty
// one proves nothing.
func Look(ctx context.Context, gpus []runs.GPU, ours func(pid int) bool) ([]runs.Foreign, error) {
	return Probe{}.Look(ctx, gpus, ours)
}

func (p Probe) sys() string {
	if p.Sys != "" {
		return p.Sys
	}
	return "/sys"
}

func (p Probe) proc() string {
	if p.Proc != "" {
		return p.Proc
	}
	return "/proc"
}

func (p Probe) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

// ArchName turns KFD's gfx_target_version into the compiler's name: 90402 is
// gfx942, 90010 gfx90a, 120500 gfx1250. It is "" for a CPU's 0 and for numbers
// that are no version.
func ArchName(version int) string {
	major, minor, step := version/10000, version/100%100, version%100
	if version <= 0 || major > 99 || minor > 15 || step > 15 {
		return ""
	}
	return fmt.Sprintf("gfx%d%x%x", major, minor, step)
}

// marketing names the parts this program is made for by PCI device id, for
// hosts whose driver leaves product_name empty.
func marketing(device int64) string {
	switch device {
	case 0x74a0:
		return "AMD Instinct MI300A"
	case 0x74a1:
		return "AMD Instinct MI300X"
	case 0x74a5:
		return "AMD Instinct MI325X"
	case 0x75a0:
		return "AMD Instinct MI350X"
	case 0x75a3:
		return "AMD Instinct MI355X"
	default:
		return ""
	}
}
