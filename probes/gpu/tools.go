package gpu

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kdapilot/engine/text"
)

const (
	toolTimeout = 8 * time.Second
	toolOutput  = 4 << 20 // bytes
	deviceLimit = 256     // devices one tool may list
)

// run starts a tool with a time limit and a bound on its output.
func (p Probe) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	if p.Run != nil {
		return p.Run(ctx, name, args...)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, exec.ErrNotFound)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	out := &bounded{room: toolOutput}
	errs := &bounded{room: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 500 * time.Millisecond
	err = cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("%s: no answer in %v", name, toolTimeout)
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(errs.buf.String()), "\n")
		return nil, fmt.Errorf("%s: %w: %s", name, err, text.Clip(text.Line(first), 200))
	case out.over:
		return nil, fmt.Errorf("%s: more than %d bytes of output", name, toolOutput)
	}
	return out.buf.Bytes(), nil
}

// bounded keeps the first room bytes and never fails a write.
type bounded struct {
	buf  bytes.Buffer
	room int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if n := b.room - b.buf.Len(); n < len(p) {
		b.over = true
		b.buf.Write(p[:max(n, 0)])
	} else {
		b.buf.Write(p)
	}
	return len(p), nil
}

// parseROCmInfo reads the agent blocks of rocminfo that say Device Type: GPU.
func parseROCmInfo(b []byte) ([]Device, error) {
	var out []Device
	var at map[string]string
	agents := 0
	end := func() {
		if at != nil && at["Device Type"] == "GPU" && len(out) < deviceLimit {
			d := named(at["Marketing Name"], at["Name"], at["Uuid"])
			d.CUs = count(at["Compute Unit"])
			d.MaxClockMHz = count(at["Max Clock Freq. (MHz)"])
			out = append(out, d)
		}
		at = nil
	}
	for line := range strings.Lines(text.Clean(string(b))) {
		s := strings.TrimSpace(line)
		if n, ok := strings.CutPrefix(s, "Agent "); ok && count(n) != nil {
			end()
			at = map[string]string{}
			agents++
			continue
		}
		k, v, ok := strings.Cut(s, ":")
		if at == nil || !ok {
			continue
		}
		// The first word wins: pools and ISAs below repeat "Name".
		if _, seen := at[k]; !seen && len(at) < 200 {
			at[k] = strings.TrimSpace(v)
		}
	}
	end()
	if agents == 0 {
		return nil, errors.New("rocminfo: no agent in its output")
	}
	return numbered(out), nil
}

func count(s string) *int {
	f := strings.Fields(s)
	if len(f) == 0 {
		return nil
	}
	n, _, _ := strings.Cut(f[0], "(")
	v, err := strconv.Atoi(n)
	if err != nil || v < 0 {
		return nil
	}
	return &v
}

// tree decodes a tool's JSON, which differs from release to release: maps,
// lists, numbers and words are looked into, none is relied on. Warnings that
// some releases print before the JSON are skipped.
func tree(tool string, b []byte) (any, error) {
	i := bytes.IndexAny(b, "{[")
	if i < 0 {
		return nil, fmt.Errorf("%s: no JSON in its output", tool)
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(b[i:]))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	return v, nil
}

// at walks down maps by key; nil when a step is missing.
func at(v any, keys ...string) any {
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

// word gives a leaf as text, "" for N/A and for what is no leaf.
func word(v any) string {
	switch x := v.(type) {
	case string:
		if s := strings.TrimSpace(x); s != "N/A" && s != "n/a" {
			return s
		}
	case json.Number:
		return x.String()
	case map[string]any: // {"value": 3, "unit": "W"}
		return word(x["value"])
	}
	return ""
}

// amount gives a leaf as a number: "12 W", "(2100Mhz)" and {"value": 3} all do.
func amount(v any) *float64 {
	s := strings.TrimLeft(word(v), "( ")
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' || end == 0 && s[end] == '-') {
		end++
	}
	f, err := strconv.ParseFloat(s[:end], 64)
	if err != nil {
		return nil
	}
	return &f
}

// gpuList finds amd-smi's list of per-device maps; newer releases wrap it.
func gpuList(v any) []any {
	if m, ok := v.(map[string]any); ok {
		for _, k := range []string{"gpu_data", "gpus", "gpu"} {
			if l, ok := m[k].([]any); ok {
				return l[:min(len(l), deviceLimit)]
			}
		}
		return []any{v}
	}
	l, _ := v.([]any)
	return l[:min(len(l), deviceLimit)]
}

// parseAMDSMI reads `amd-smi static --json`.
func parseAMDSMI(b []byte) ([]Device, error) {
	v, err := tree("amd-smi", b)
	if err != nil {
		return nil, err
	}
	var out []Device
	for _, g := range gpuList(v) {
		asic := at(g, "asic")
		if at(g, "gpu") == nil || asic == nil {
			continue
		}
		d := named(word(at(asic, "market_name")), word(at(asic, "target_graphics_version")), word(at(asic, "asic_serial")))
		d.PCI = text.Clip(text.Line(strings.ToLower(word(at(g, "bus", "bdf")))), 40)
		d.CUs = count(word(at(asic, "num_compute_units")))
		if mb := amount(at(g, "vram", "size")); mb != nil && *mb > 0 && *mb < 1<<40 {
			d.VRAMBytes = ptr(int64(*mb) << 20)
		}
		out = append(out, d)
	}
	if out == nil {
		return nil, errors.New("amd-smi: no device in its output")
	}
	return numbered(out), nil
}

// cards gives rocm-smi's "cardN" maps in the order of N.
func cards(v any) []map[string]any {
	m, _ := v.(map[string]any)
	type card struct {
		n int
		m map[string]any
	}
	var list []card
	for k, x := range m {
		s, ok := strings.CutPrefix(k, "card")
		n, err := strconv.Atoi(s)
		if c, isMap := x.(map[string]any); ok && err == nil && isMap && len(list) < deviceLimit {
			list = append(list, card{n, c})
		}
	}
	slices.SortFunc(list, func(a, b card) int { return a.n - b.n })
	var out []map[string]any
	for _, c := range list {
		out = append(out, c.m)
	}
	return out
}

// keyed finds the value whose key contains part, first in alphabetical order.
func keyed(m map[string]any, part string) any {
	best := ""
	for k := range m {
		if strings.Contains(strings.ToLower(k), part) && (best == "" || k < best) {
			best = k
		}
	}
	return m[best]
}

// parseROCmSMI reads `rocm-smi --showproductname --showuniqueid --json`.
func parseROCmSMI(b []byte) ([]Device, error) {
	v, err := tree("rocm-smi", b)
	if err != nil {
		return nil, err
	}
	var out []Device
	for _, c := range cards(v) {
		d := named(word(keyed(c, "card series")), word(keyed(c, "gfx version")), word(keyed(c, "unique id")))
		d.PCI = text.Clip(text.Line(strings.ToLower(word(keyed(c, "pci bus")))), 40)
		out = append(out, d)
	}
	if out == nil {
		return nil, errors.New("rocm-smi: no card in its output")
	}
	return numbered(out), nil
}
