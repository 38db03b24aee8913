package demo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kdapilot/engine/family"
	"kdapilot/engine/runs"
	"kdapilot/templates"
)

// repeats is how often the small preset ran on each arm: enough for a verdict.
const repeats = 5

// baseRuns and candidateRuns are the finished runs that the bench screens of a
// fresh world compare: the same presets before and after loop 01.
func (w *world) baseRuns() error {
	return w.pastRuns("base", 100, "sweep")
}

func (w *world) candidateRuns() error {
	return w.pastRuns("candidate", 200, "sweep", "compare")
}

func (w *world) pastRuns(arm string, seed uint64, presets ...string) error {
	for range repeats {
		presets = append(presets, "smoke")
	}
	for i, preset := range presets {
		w.now = w.now.Add(2 * time.Minute)
		if err := w.pastRun(preset, arm, seed+uint64(i)); err != nil {
			return fmt.Errorf("%s: %w", preset, err)
		}
	}
	return nil
}

// pastRun writes the folder of a run that ended, with the output the simulated
// harness gives for the kernel as it is now.
func (w *world) pastRun(preset, arm string, seed uint64) error {
	cmd, err := presetCommand(preset, w.l.Worktree)
	if err != nil {
		return err
	}
	m, dir, err := w.manifest(preset, cmd, arm, seed)
	if err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, "manifest.json"), m); err != nil {
		return err
	}
	exit, seconds, err := w.playInto(dir, cmd.Argv[2:], seed)
	if err != nil {
		return err
	}
	return w.closeRun(dir, m, exit, seconds)
}

// manifest makes the folder of a run that is made up, and says what it ran.
func (w *world) manifest(preset string, cmd family.Command, arm string, seed uint64) (runs.Manifest, string, error) {
	head, err := w.git(w.l.Worktree, "rev-parse", "HEAD")
	if err != nil {
		return runs.Manifest{}, "", err
	}
	id := runs.ID(fmt.Sprintf("%s-%s-%04x", w.now.UTC().Format("20060102-150405"), preset, 0x5100+seed))
	dir := filepath.Join(w.l.Worktree, ".humanize", "kdapilot", "runs", string(id))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return runs.Manifest{}, "", err
	}
	judge, err := hashed(w.l.Worktree, harnessRel)
	if err != nil {
		return runs.Manifest{}, "", err
	}
	expected, clean := len(cmd.Expected), 0
	return runs.Manifest{
		Version: runs.FormatVersion, ID: id, Preset: preset, Kind: runs.Harness, Family: Family, Arm: arm, Simulated: true, Argv: cmd.Argv, Env: envMap(cmd.Env),
		Cwd: cmd.Cwd, Worktree: w.l.Worktree, Branch: Branch, Head: head, DirtyFiles: &clean, GPUs: []runs.GPU{{Index: 0, Name: GPUName, Arch: Arch}},
		Place: runs.Place{Host: Mark}, Harness: []runs.Hashed{judge}, ExpectedCells: &expected, Captures: []string{"fmha_*.csv"}, Started: w.now, GraceSeconds: 10, Executor: "local",
	}, dir, nil
}

func presetCommand(preset, worktree string) (family.Command, error) {
	src, err := templates.FamilyTOML(Family)
	if err != nil {
		return family.Command{}, err
	}
	fam, err := family.Parse(Family, src)
	if err != nil {
		return family.Command{}, err
	}
	return fam.Preset(preset, family.Params{Worktree: worktree, Variant: "head"})
}

func envMap(env []string) map[string]string {
	out := make(map[string]string, len(env))
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		out[k] = v
	}
	return out
}

// playInto runs the simulated harness without waits; seconds is the time it
// would have taken.
func (w *world) playInto(dir string, args []string, seed uint64) (exit int, seconds float64, err error) {
	fl, err := parseHarness(args)
	if err != nil {
		return 0, 0, err
	}
	cells, err := fl.cells()
	if err != nil {
		return 0, 0, err
	}
	var stdout, stderr bytes.Buffer
	h := &sheet{fl: fl, out: &stdout, err: &stderr, seed: seed, knobs: readKnobs(w.l.Worktree), dir: dir}
	for _, c := range cells {
		seconds += h.seconds(c)
	}
	exit = h.run(w.ctx)
	if err := write(filepath.Join(dir, "stdout.log"), stdout.Bytes(), 0o644); err != nil {
		return exit, seconds, err
	}
	return exit, seconds, write(filepath.Join(dir, "stderr.log"), stderr.Bytes(), 0o644)
}

// closeRun hashes the files, makes them read-only and writes the result.
func (w *world) closeRun(dir string, m runs.Manifest, exit int, seconds float64) error {
	ended := w.now.Add(time.Duration(seconds * float64(time.Second)))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	res := runs.Result{Version: runs.FormatVersion, ID: m.ID, State: runs.Ended, Exit: &exit, Started: w.now, Ended: ended, WallSeconds: seconds, ForeignLooks: 2}
	for _, e := range entries {
		h, err := hashed(dir, e.Name())
		if err != nil {
			return err
		}
		res.Files = append(res.Files, h)
		if strings.HasSuffix(e.Name(), ".csv") {
			res.Captured = append(res.Captured, e.Name())
		}
		path := filepath.Join(dir, e.Name())
		if err := os.Chtimes(path, ended, ended); err != nil {
			return err
		}
		if err := os.Chmod(path, 0o444); err != nil {
			return err
		}
	}
	if err := writeJSON(filepath.Join(dir, "result.json"), res); err != nil {
		return err
	}
	w.now = ended
	return os.Chmod(filepath.Join(dir, "result.json"), 0o444)
}

func hashed(root, rel string) (runs.Hashed, error) {
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(rel)))
	if err != nil {
		return runs.Hashed{}, err
	}
	sum := sha256.Sum256(b)
	return runs.Hashed{Path: rel, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(b))}, nil
}
