package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"kdapilot/engine/bench"
	"kdapilot/probes/readfile"
)

const (
	// maxRuns bounds the runs of one arm.
	maxRuns = 10_000
	// maxMeta bounds a manifest or result file.
	maxMeta = 4 << 20
)

// LoadArm reads one side of a comparison. Each path is a log, a CSV, a JSONL
// file, a run folder (stdout.log, stderr.log), or a folder of run folders; each
// file and each run folder is a run. A data file in which a cell occurs more
// than once holds several runs: its n-th occurrence goes to the n-th run.
//
// The error names the file, and the line of a data file.
func LoadArm(label string, paths []string, opt Options) (bench.Arm, error) {
	arm := bench.Arm{Label: label}
	opt.keepRepeats = true
	for _, p := range paths {
		st, err := os.Stat(p)
		if err != nil {
			return arm, err
		}
		if st.IsDir() {
			err = loadDir(&arm, p, opt)
		} else {
			err = loadRun(&arm, []string{p}, opt, nil)
		}
		if err != nil {
			return arm, err
		}
	}
	if len(arm.Runs) == 0 {
		return arm, fmt.Errorf("%s: no run there: %w", label, fs.ErrNotExist)
	}
	return arm, nil
}

// loadRun adds the rows of one run, or of the runs that a data file holds.
func loadRun(arm *bench.Arm, files []string, opt Options, exit *int) error {
	r, err := Parse(files, opt, exit)
	if err != nil {
		return err
	}
	rows := r.AllRows()
	if len(rows) == 0 {
		why := r.Family + " output without a row"
		if len(r.Diagnostics) > 0 {
			why = r.Diagnostics[0].Text
		}
		return fmt.Errorf("%s: %s", files[0], why)
	}
	type id struct{ section, key string }
	nth := make(map[id]int)
	first := len(arm.Runs)
	for _, row := range rows {
		k := id{row.Section, row.Key}
		n := first + nth[k]
		nth[k]++
		if n >= maxRuns {
			return fmt.Errorf("%s: more than %d repeats of %s", files[0], maxRuns, row.Key)
		}
		for len(arm.Runs) <= n {
			arm.Runs = append(arm.Runs, nil)
		}
		arm.Runs[n] = append(arm.Runs[n], row)
	}
	return nil
}

// loadDir reads a run folder, else the run folders inside it in name order.
func loadDir(arm *bench.Arm, dir string, opt Options) error {
	ok, err := loadRunDir(arm, dir, opt)
	if ok || err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	found := false
	for _, e := range entries {
		if !e.IsDir() || len(arm.Runs) >= maxRuns {
			continue
		}
		ok, err := loadRunDir(arm, filepath.Join(dir, e.Name()), opt)
		if err != nil {
			return err
		}
		found = found || ok
	}
	if !found {
		return fmt.Errorf("%s: want a run folder with stdout.log, or a folder of run folders: %w", dir, fs.ErrNotExist)
	}
	return nil
}

// loadRunDir reads a run folder; ok is false when dir is none.
func loadRunDir(arm *bench.Arm, dir string, opt Options) (ok bool, err error) {
	var files []string
	for _, n := range [...]string{"stdout.log", "stderr.log"} {
		p := filepath.Join(dir, n)
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() {
			files = append(files, p)
		}
	}
	if len(files) == 0 {
		return false, nil
	}
	exit, command, err := runMeta(dir)
	if err != nil {
		return true, err
	}
	if opt.Command == "" {
		opt.Command = command
	}
	return true, loadRun(arm, files, opt, exit)
}

// runMeta reads exit status and command of a run folder, as far as they are
// there.
func runMeta(dir string) (exit *int, command string, err error) {
	var res struct {
		Exit   *int   `json:"exit"`
		Signal string `json:"signal"`
	}
	var man struct {
		Argv []string `json:"argv"`
	}
	for name, into := range map[string]any{"result.json": &res, "manifest.json": &man} {
		p := filepath.Join(dir, name)
		b, _, err := readfile.All(p, maxMeta)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if err := json.Unmarshal(b, into); err != nil {
			return nil, "", fmt.Errorf("%s: want JSON: %w", p, err)
		}
	}
	if res.Exit == nil && res.Signal != "" {
		res.Exit = ExitOfSignal(res.Signal)
	}
	return res.Exit, strings.Join(man.Argv, " "), nil
}

// ExitOfSignal is the negative status that stands for a signal's name, nil for
// an unknown one.
func ExitOfSignal(name string) *int {
	for n, s := range map[int]string{-1: "SIGHUP", -2: "SIGINT", -4: "SIGILL", -6: "SIGABRT", -7: "SIGBUS", -8: "SIGFPE", -9: "SIGKILL", -11: "SIGSEGV", -15: "SIGTERM"} {
		if s == name {
			return &n
		}
	}
	return nil
}
