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
	arm, _, err := LoadRuns(label, paths, opt)
	return arm, err
}

// Source is where runs of an arm came from.
type Source struct {
	// Path is the file or the run folder.
	Path string
	// Folder is true for a run folder, which has a manifest beside its logs.
	Folder bool
	// Result is all that was printed, with its Truth. No number of cells was
	// expected: a folder's manifest knows it.
	Result *bench.Result
}

// LoadRuns is LoadArm, and tells where each run came from.
func LoadRuns(label string, paths []string, opt Options) (bench.Arm, []Source, error) {
	l := loading{Arm: bench.Arm{Label: label}}
	err := l.load(paths, opt)
	return l.Arm, l.sources, err
}

// loading is an arm on its way.
type loading struct {
	bench.Arm
	sources []Source
}

func (arm *loading) load(paths []string, opt Options) error {
	opt.keepRepeats = true
	for _, p := range paths {
		st, err := os.Stat(p)
		if err != nil {
			return err
		}
		if st.IsDir() {
			err = arm.dir(p, opt)
		} else {
			err = arm.run(p, []string{p}, opt, nil)
		}
		if err != nil {
			return err
		}
	}
	if len(arm.Runs) == 0 {
		return fmt.Errorf("%s: no run there: %w", arm.Label, fs.ErrNotExist)
	}
	return nil
}

// run adds the rows of one run, or of the runs that a data file holds.
func (arm *loading) run(path string, files []string, opt Options, exit *int) error {
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
	v := bench.Truth(&r, 0)
	r.Truth = &v
	arm.sources = append(arm.sources, Source{Path: path, Folder: path != files[0], Result: &r})
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

// dir reads a run folder, else the run folders inside it in name order.
func (arm *loading) dir(dir string, opt Options) error {
	ok, err := arm.folder(dir, opt)
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
		ok, err := arm.folder(filepath.Join(dir, e.Name()), opt)
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

// folder reads a run folder; ok is false when dir is none.
func (arm *loading) folder(dir string, opt Options) (ok bool, err error) {
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
	return true, arm.run(dir, files, opt, exit)
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
