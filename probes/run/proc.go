package run

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"kdapilot/engine/runs"
)

// procStat is what /proc/PID/stat says that matters here (proc_pid_stat(5):
// fields 3 state, 4 ppid, 5 pgrp, 6 session, 22 starttime).
type procStat struct {
	pid, ppid, pgrp, session int
	state                    byte
	ticks                    uint64
}

func (p procStat) dead() bool      { return p.state == 'Z' || p.state == 'X' || p.state == 'x' }
func (p procStat) proc() runs.Proc { return runs.Proc{PID: p.pid, StartTicks: p.ticks} }

// readStat fails with an error wrapping fs.ErrNotExist when there is no such
// process.
func readStat(pid int) (procStat, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procStat{}, err
	}
	return parseStat(pid, b)
}

// parseStat cuts at the last parenthesis, since a command name may hold blanks
// and parentheses itself.
func parseStat(pid int, b []byte) (procStat, error) {
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return procStat{}, fmt.Errorf("/proc/%d/stat: no command name in parentheses", pid)
	}
	f := strings.Fields(string(b[i+1:]))
	if len(f) < 20 {
		return procStat{}, fmt.Errorf("/proc/%d/stat: %d fields after the name, expected at least 20", pid, len(f))
	}
	p := procStat{pid: pid, state: f[0][0]}
	var errs [4]error
	p.ppid, errs[0] = strconv.Atoi(f[1])
	p.pgrp, errs[1] = strconv.Atoi(f[2])
	p.session, errs[2] = strconv.Atoi(f[3])
	p.ticks, errs[3] = strconv.ParseUint(f[19], 10, 64)
	if err := errors.Join(errs[:]...); err != nil {
		return procStat{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	return p, nil
}

// alive reports whether exactly this process still runs; a zombie does not.
func alive(p runs.Proc) bool {
	if p.PID <= 0 {
		return false
	}
	st, err := readStat(p.PID)
	return err == nil && st.ticks == p.StartTicks && !st.dead()
}

// self describes the calling process.
func self() runs.Proc {
	st, err := readStat(os.Getpid())
	if err != nil {
		return runs.Proc{PID: os.Getpid()}
	}
	return st.proc()
}

// here is where this process's ids mean something.
func here() runs.Place {
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	ns, _ := os.Readlink("/proc/self/ns/pid")
	return runs.Place{Host: host, Boot: strings.TrimSpace(string(boot)), PIDSpace: ns}
}

// signalProc signals exactly p: the pidfd is opened first and the start time
// compared after, so a reused id is never hit.
func signalProc(p runs.Proc, sig unix.Signal) error {
	if p.PID <= 1 {
		return fmt.Errorf("process %d: refusing to signal it", p.PID)
	}
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		if errors.Is(err, unix.ENOSYS) { // before Linux 5.3
			if !alive(p) {
				return unix.ESRCH
			}
			return unix.Kill(p.PID, sig)
		}
		return err
	}
	defer unix.Close(fd)
	if !alive(p) {
		return unix.ESRCH
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}

// offspring lists the living processes that descend from root, or share its
// session if root leads one, without root itself. A process that was orphaned
// and left the session is still found when root is its sub-reaper.
func offspring(root int) []procStat {
	all := map[int]procStat{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if st, err := readStat(pid); err == nil {
			all[pid] = st
		}
	}
	var out []procStat
	for pid, st := range all {
		if pid != root && !st.dead() && (st.session == root || descends(all, pid, root)) {
			out = append(out, st)
		}
	}
	return out
}

func descends(all map[int]procStat, pid, root int) bool {
	for range 1 << 10 { // a chain that long is a race with reused ids
		st, ok := all[pid]
		if !ok || st.ppid <= 1 && root > 1 {
			return false
		}
		if st.ppid == root {
			return true
		}
		pid = st.ppid
	}
	return false
}
