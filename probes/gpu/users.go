package gpu

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kdapilot/engine/runs"
	"kdapilot/engine/text"
	"kdapilot/probes/readfile"
)

// initPIDSpace is the inode of the first pid namespace (the kernel's
// PROC_PID_INIT_INO): KFD numbers processes as that one does.
const initPIDSpace = "pid:[4026531836]"

// Look lists processes on gpus for which ours is false.
//
// In a container with its own process ids KFD still tells the host's, which say
// nothing about ours. Then it counts: processes in sight that hold /dev/kfd
// against those KFD knows. What is left over belongs to somebody else.
func (p Probe) Look(ctx context.Context, gpus []runs.GPU, ours func(pid int) bool) ([]runs.Foreign, error) {
	devices, origin := p.Scan(ctx)
	if !origin.Status.Known() {
		return nil, fmt.Errorf("looking for other users of the GPU: %s", origin.Why)
	}
	users, known := p.users(ctx, devices)
	if !known {
		return nil, errors.New("looking for other users of the GPU: neither KFD nor a tool lists processes")
	}
	indices := []int{noGPU}
	for _, g := range gpus {
		indices = append(indices, g.Index)
	}
	var out []runs.Foreign
	hidden := map[int][]Process{}
	for _, index := range indices {
		for _, u := range users[index] {
			switch {
			case u.Elsewhere:
				hidden[index] = append(hidden[index], u)
			case !ours(u.PID):
				out = append(out, runs.Foreign{GPU: index, PID: u.PID, Command: u.Command})
			}
		}
	}
	if len(hidden) == 0 {
		return out, nil
	}
	return append(out, p.leftOver(hidden, ours)...), nil
}

// noGPU marks processes of which no tool said the device.
const noGPU = -1

// leftOver decides about processes whose ids mean nothing here.
func (p Probe) leftOver(hidden map[int][]Process, ours func(pid int) bool) []runs.Foreign {
	var out []runs.Foreign
	var others []int
	holders := p.holders()
	for _, pid := range holders {
		if !ours(pid) {
			others = append(others, pid)
		}
	}
	for index, list := range hidden {
		if len(list) <= len(holders)-len(others) {
			continue // ours explain them all
		}
		for _, pid := range others {
			out = append(out, runs.Foreign{GPU: noGPU, PID: pid, Command: p.command(pid)})
		}
		others = nil
		for _, u := range list[min(len(holders), len(list)):] {
			out = append(out, runs.Foreign{GPU: index, PID: u.PID, Command: "(a process outside this container)"})
		}
	}
	slices.SortFunc(out, func(a, b runs.Foreign) int { return a.PID - b.PID })
	return out
}

// holders are the processes in sight that have /dev/kfd open.
func (p Probe) holders() []int {
	dirs, err := filepath.Glob(filepath.Join(p.proc(), "[0-9]*"))
	if err != nil {
		return nil
	}
	var out []int
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		fds, err := os.ReadDir(filepath.Join(dir, "fd"))
		if err != nil {
			continue
		}
		for _, fd := range fds[:min(len(fds), nodeLimit)] {
			if to, err := os.Readlink(filepath.Join(dir, "fd", fd.Name())); err == nil && to == "/dev/kfd" {
				out = append(out, pid)
				break
			}
		}
	}
	return out
}

// users gives the processes by device index. known is false when neither KFD
// nor a tool could say.
func (p Probe) users(ctx context.Context, devices []Device) (map[int][]Process, bool) {
	if users, err := p.kfdUsers(devices); err == nil {
		return users, true
	}
	if b, err := p.run(ctx, "amd-smi", "process", "--json"); err == nil {
		if users, err := parseAMDSMIProcesses(b); err == nil {
			return users, true
		}
	}
	if b, err := p.run(ctx, "rocm-smi", "--showpids", "--json"); err == nil {
		if users, err := parseROCmSMIProcesses(b); err == nil {
			return users, true
		}
	}
	return nil, false
}

// kfdUsers reads /sys/class/kfd/kfd/proc: a folder per process that has
// /dev/kfd open, with the memory it holds and the queues it has per gpu_id.
func (p Probe) kfdUsers(devices []Device) (map[int][]Process, error) {
	dir := filepath.Join(p.sys(), "class/kfd/kfd/proc")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	byID := map[int64]int{}
	for _, d := range devices {
		if d.KFDID < 0 {
			return nil, errors.New("devices without a KFD id")
		}
		byID[d.KFDID] = d.Index
	}
	space, _ := os.Readlink(filepath.Join(p.proc(), "self/ns/pid"))
	elsewhere := space != initPIDSpace
	out := map[int][]Process{}
	for _, e := range entries[:min(len(entries), nodeLimit)] {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		for index, vram := range p.holds(filepath.Join(dir, e.Name()), byID) {
			u := Process{PID: pid, VRAMBytes: vram, Elsewhere: elsewhere}
			if !elsewhere {
				u.Command = p.command(pid)
			}
			out[index] = append(out[index], u)
		}
	}
	return out, nil
}

// holds gives the device indices a process uses, with its memory there. A
// process that only opened the driver uses none.
func (p Probe) holds(dir string, byID map[int64]int) map[int]*int64 {
	out := map[int]*int64{}
	for id, index := range byID {
		name := strconv.FormatInt(id, 10)
		if n := p.whole(filepath.Join(dir, "vram_"+name)); n != nil && *n > 0 {
			out[index] = n
		}
		if n := p.whole(filepath.Join(dir, "stats_"+name, "cu_occupancy")); n != nil && *n > 0 && out[index] == nil {
			out[index] = nil
		}
	}
	queues, err := os.ReadDir(filepath.Join(dir, "queues"))
	if err != nil {
		return out
	}
	for _, q := range queues[:min(len(queues), nodeLimit)] {
		id, ok := p.number(filepath.Join(dir, "queues", q.Name(), "gpuid"))
		index, here := byID[id]
		if _, has := out[index]; ok && here && !has {
			out[index] = nil
		}
	}
	return out
}

// command is the process's command line, short and clean; "" when it is gone.
func (p Probe) command(pid int) string {
	dir := filepath.Join(p.proc(), strconv.Itoa(pid))
	b, _, err := readfile.All(filepath.Join(dir, "cmdline"), fileLimit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || len(b) == 0 {
		return p.line(filepath.Join(dir, "comm"))
	}
	return text.Clip(text.Line(strings.ReplaceAll(strings.TrimRight(string(b), "\x00"), "\x00", " ")), 200)
}

// parseAMDSMIProcesses reads `amd-smi process --json`.
func parseAMDSMIProcesses(b []byte) (map[int][]Process, error) {
	v, err := tree("amd-smi", b)
	if err != nil {
		return nil, err
	}
	out := map[int][]Process{}
	told := false
	for _, g := range gpuList(v) {
		index := count(word(at(g, "gpu")))
		list, ok := at(g, "process_list").([]any)
		if index == nil || !ok {
			continue
		}
		told = true
		for _, x := range list[:min(len(list), nodeLimit)] {
			info := at(x, "process_info")
			pid := count(word(at(info, "pid")))
			if pid == nil {
				continue // "No running processes detected"
			}
			u := Process{PID: *pid, Command: text.Clip(text.Line(word(at(info, "name"))), 200)}
			if f := amount(at(info, "memory_usage", "vram_mem")); f != nil && *f >= 0 && *f < 1<<50 {
				u.VRAMBytes = ptr(int64(*f))
			}
			out[*index] = append(out[*index], u)
		}
	}
	if !told {
		return nil, errors.New("amd-smi: no process list in its output")
	}
	return out, nil
}

// parseROCmSMIProcesses reads `rocm-smi --showpids --json`, which does not say
// the device: {"system": {"PID42": "python3, 1, 1048576, 0, 0"}}.
func parseROCmSMIProcesses(b []byte) (map[int][]Process, error) {
	v, err := tree("rocm-smi", b)
	if err != nil {
		return nil, err
	}
	m, ok := at(v, "system").(map[string]any)
	if !ok {
		return nil, errors.New("rocm-smi: no process list in its output")
	}
	out := map[int][]Process{}
	for k, x := range m {
		n, ok := strings.CutPrefix(k, "PID")
		pid := count(n)
		if !ok || pid == nil || len(out[noGPU]) >= nodeLimit {
			continue
		}
		f := strings.Split(word(x), ",")
		if len(f) > 1 && strings.TrimSpace(f[1]) == "0" {
			continue // has the driver open, uses no GPU
		}
		u := Process{PID: *pid, Command: text.Clip(text.Line(f[0]), 200)}
		if len(f) > 2 {
			u.VRAMBytes = bytesOf(strings.TrimSpace(f[2]))
		}
		out[noGPU] = append(out[noGPU], u)
	}
	slices.SortFunc(out[noGPU], func(a, b Process) int { return a.PID - b.PID })
	return out, nil
}
