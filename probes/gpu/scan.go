package gpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kdapilot/engine/fact"
	"kdapilot/engine/runs"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

const (
	fileLimit = 256 << 10 // bytes of one sysfs file
	nodeLimit = 1024      // KFD nodes, DRM cards, processes
)

// Scan lists the GPUs in the order of HIP with nothing hidden: that of the KFD
// nodes.
func (p Probe) Scan(ctx context.Context) ([]Device, fact.Origin) {
	origin := fact.Origin{Path: filepath.Join(p.sys(), "class/kfd/kfd/topology/nodes"), ReadAt: p.now()}
	devices, nodes, err := p.scanKFD(origin.Path)
	if err == nil {
		origin.Status = fact.OK
		if len(devices) == 0 {
			origin.Why = fmt.Sprintf("no GPU among %d KFD nodes", nodes)
		}
		return devices, origin
	}
	tried := []string{text.Line(err.Error())}
	for _, ask := range []struct {
		name string
		args []string
		read func([]byte) ([]Device, error)
	}{
		{"rocminfo", nil, parseROCmInfo},
		{"amd-smi", []string{"static", "--asic", "--bus", "--vram", "--json"}, parseAMDSMI},
		{"rocm-smi", []string{"--showproductname", "--showuniqueid", "--showbus", "--json"}, parseROCmSMI},
	} {
		out, err := p.run(ctx, ask.name, ask.args...)
		if err == nil {
			devices, err = ask.read(out)
		}
		if err == nil {
			origin.Path, origin.Status = ask.name, fact.OK
			if len(devices) == 0 {
				origin.Why = ask.name + " lists no GPU"
			}
			return devices, origin
		}
		tried = append(tried, text.Clip(text.Line(err.Error()), 200))
	}
	origin.Status, origin.Why = fact.Missing, strings.Join(tried, "; ")
	return nil, origin
}

// scanKFD reads the topology. nodes counts all nodes, CPUs too. A node that may
// not be read is one this container was not given.
func (p Probe) scanKFD(dir string) (devices []Device, nodes int, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("no KFD driver: %s is not there", dir)
	}
	if err != nil {
		return nil, 0, err
	}
	var ids []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n >= 0 && len(ids) < nodeLimit {
			ids = append(ids, n)
		}
	}
	slices.Sort(ids)
	var unread error
	for _, n := range ids {
		b, _, err := readfile.All(filepath.Join(dir, strconv.Itoa(n), "properties"), fileLimit)
		if errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			unread = cmp.Or(unread, fmt.Errorf("KFD node %d: %w", n, err))
			continue
		}
		nodes++
		props := properties(b)
		if d, ok := p.device(n, props, dir); ok {
			d.Index = len(devices)
			devices = append(devices, d)
		}
	}
	// A half-read list would number the rest wrongly.
	return devices, nodes, unread
}

// properties reads "name value" lines. Values that are no number are left out.
func properties(b []byte) map[string]int64 {
	out := map[string]int64{}
	for line := range strings.Lines(string(b)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || len(out) >= nodeLimit {
			continue
		}
		value = strings.TrimSpace(value)
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			out[name] = n
		} else if u, err := strconv.ParseUint(value, 10, 64); err == nil {
			out[name] = int64(u) // unique_id and hive_id use all 64 bits
		}
	}
	return out
}

// device builds a GPU from a node's properties; ok is false for a CPU.
func (p Probe) device(node int, props map[string]int64, dir string) (Device, bool) {
	if props["simd_count"] <= 0 && props["gfx_target_version"] <= 0 {
		return Device{}, false
	}
	d := Device{Node: node, KFDID: -1, Render: -1}
	if v := props["gfx_target_version"]; v > 0 && v < 1<<31 {
		d.Arch = ArchName(int(v))
	}
	if id, ok := p.number(filepath.Join(dir, strconv.Itoa(node), "gpu_id")); ok {
		d.KFDID = id
	}
	if u := props["unique_id"]; u != 0 {
		d.ID = fmt.Sprintf("%#016x", uint64(u))
	}
	if loc, ok := props["location_id"]; ok && loc >= 0 {
		d.PCI = fmt.Sprintf("%04x:%02x:%02x.%x", props["domain"]&0xffffffff, loc>>8&0xff, loc>>3&0x1f, loc&7)
	}
	if m, ok := props["drm_render_minor"]; ok && m > 0 && m < 1<<20 {
		d.Render = int(m)
	}
	if n, per := props["simd_count"], props["simd_per_cu"]; n > 0 && per > 0 {
		d.CUs = ptr(int(n / per))
	}
	if n := props["num_xcc"]; n > 0 {
		d.XCCs = ptr(int(n))
	}
	if n := props["max_engine_clk_fcompute"]; n > 0 {
		d.MaxClockMHz = ptr(int(n))
	}
	p.enrich(&d, props["device_id"])
	return d, true
}

// enrich adds what DRM knows: the product's name and the size of its memory.
func (p Probe) enrich(d *Device, deviceID int64) {
	dir := p.drm(*d)
	if dir != "" {
		if name := p.line(filepath.Join(dir, "product_name")); name != "" {
			d.Name = name
		}
		if n, ok := p.number(filepath.Join(dir, "mem_info_vram_total")); ok {
			d.VRAMBytes = ptr(n)
		}
		if d.ID == "" {
			if id := p.line(filepath.Join(dir, "unique_id")); id != "" {
				d.ID = "0x" + strings.TrimPrefix(id, "0x")
			}
		}
	}
	if d.Name == "" {
		d.Name = marketing(deviceID)
	}
}

// drm is the device folder below class/drm, "" when there is none.
func (p Probe) drm(d Device) string {
	base := filepath.Join(p.sys(), "class/drm")
	if d.Render >= 0 {
		dir := filepath.Join(base, "renderD"+strconv.Itoa(d.Render), "device")
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			return dir
		}
	}
	if d.PCI == "" {
		return ""
	}
	cards, err := filepath.Glob(filepath.Join(base, "card*", "device"))
	if err != nil {
		return ""
	}
	for i, dir := range cards {
		if i >= nodeLimit {
			break
		}
		b, _, err := readfile.All(filepath.Join(dir, "uevent"), fileLimit)
		if err == nil && slices.Contains(strings.Fields(string(b)), "PCI_SLOT_NAME="+d.PCI) {
			return dir
		}
	}
	return ""
}

// number reads a file that holds one number.
func (p Probe) number(path string) (int64, bool) {
	n, err := strconv.ParseInt(p.line(path), 10, 64)
	return n, err == nil
}

// line reads a file's first line, clean; "" when it can not be read.
func (p Probe) line(path string) string {
	b, _, err := readfile.All(path, fileLimit)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(b), "\n")
	return text.Clip(text.Line(first), 200)
}

func ptr[T any](v T) *T { return &v }

// numbered gives devices that a tool listed the index of their place.
func numbered(list []Device) []Device {
	for i := range list {
		list[i].Index = i
	}
	return list
}

// named is a device known by what a tool says.
func named(name, arch, id string) Device {
	return Device{GPU: runs.GPU{Name: text.Clip(text.Line(name), 200), Arch: archWord(arch), ID: text.Clip(text.Line(id), 80)}, Node: -1, KFDID: -1, Render: -1}
}

// archWord keeps a gfx name and drops everything else, so that "N/A" is not an
// arch; feature flags after a colon go too.
func archWord(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), ":")
	if len(s) < 5 || len(s) > 12 || !strings.HasPrefix(s, "gfx") {
		return ""
	}
	for _, c := range s[3:] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return ""
		}
	}
	return s
}
