package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"kdapilot/engine/runs"
)

const (
	nonblock = unix.O_NONBLOCK
	jitDir   = "jit-cache"
	// Variables between Local and the supervisor; the child never sees them.
	envLockDir = "KDAPILOT_RUN_LOCK_DIR"
	envLockFDs = "KDAPILOT_RUN_LOCK_FDS"
)

// runDirMark stands for the run folder in a manifest, which is written before
// anybody may move the worktree.
const runDirMark = "{run}"

// shiftsGPUs are variables that renumber or hide devices before HIP counts them:
// left in place, HIP_VISIBLE_DEVICES=0 would not mean the GPU that was locked.
var shiftsGPUs = [...]string{"ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}

// environment decides what the run sets, which inherited variables are worth
// recording, and which are taken away.
func environment(s Spec, environ []string) (set, inherited map[string]string, unset []string) {
	set = map[string]string{
		// Python block-buffers a pipe or file, and a GPU fault then loses it all.
		"PYTHONUNBUFFERED": "1",
		// Two arms that share a JIT cache could run each other's kernels.
		"FLYDSL_RUNTIME_CACHE_DIR": filepath.Join(runDirMark, jitDir),
	}
	for k, v := range s.Env {
		set[k] = v
	}
	if len(s.GPUs) > 0 {
		var ids []string
		for _, g := range s.GPUs {
			ids = append(ids, strconv.Itoa(g.Index))
		}
		set["HIP_VISIBLE_DEVICES"] = strings.Join(ids, ",")
		unset = append(unset, shiftsGPUs[:]...)
	}
	inherited = map[string]string{}
	for _, kv := range environ {
		k, v, _ := strings.Cut(kv, "=")
		if _, ours := set[k]; !ours && !slices.Contains(unset, k) && mattersToResult(k) {
			inherited[k] = v
		}
	}
	return set, inherited, unset
}

// mattersToResult picks variables by name; everything else may hold secrets and
// is not written down.
func mattersToResult(k string) bool {
	switch k {
	case "PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "VIRTUAL_ENV", "CONDA_PREFIX", "RUN_TESTS_FULL", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL":
		return true
	}
	for _, p := range []string{"HIP_", "HSA_", "ROCR_", "ROCM_", "AMD_", "FLYDSL_", "ROCDSL_", "AITER_", "PYTORCH_", "TORCH_", "TRITON_"} {
		if strings.HasPrefix(k, p) && !strings.Contains(k, "TOKEN") && !strings.Contains(k, "KEY") {
			return true
		}
	}
	return false
}

// findRunEnv hashes the script that is sourced before the command.
func findRunEnv(s Spec) (*runs.Hashed, error) {
	path := s.RunEnv
	if path == "" {
		path = filepath.Join(s.Worktree, "runenv.sh")
	}
	if s.NoRunEnv {
		return nil, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Worktree, path)
	}
	h, err := hashFile(path)
	if errors.Is(err, fs.ErrNotExist) && s.RunEnv == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("environment script: %w", err)
	}
	h.Path = path
	return &h, nil
}

// sourceScript sources $1 and becomes the rest of its arguments. The shell is
// the only one who knows what runenv.sh means, so no parser of ours stands in
// between.
const sourceScript = `. "$1" || { echo "kdapilot: sourcing $1 failed with status $?" >&2; exit 78; }
shift
exec "$@"`

// command builds the child: argv as is, or behind runenv.sh, with the run's own
// variables applied last so that the script can not undo the choice of GPU.
func command(dir string, m runs.Manifest) (*exec.Cmd, error) {
	set := map[string]string{}
	for k, v := range m.Env {
		if rest, ok := strings.CutPrefix(v, runDirMark); ok {
			v = dir + rest
		}
		set[k] = v
	}
	name := m.Argv[0]
	if strings.ContainsRune(name, '/') && !filepath.IsAbs(name) {
		name = filepath.Join(m.Cwd, name)
	}
	argv := append([]string{name}, m.Argv[1:]...)
	if m.RunEnv != nil {
		sh, err := exec.LookPath("bash")
		if err != nil {
			return nil, fmt.Errorf("sourcing %s needs bash: %w", m.RunEnv.Path, err)
		}
		wrapped := []string{sh, "--noprofile", "--norc", "-c", sourceScript, "kdapilot-run", m.RunEnv.Path, "env"}
		for _, k := range m.Unset {
			wrapped = append(wrapped, "-u", k)
		}
		for _, k := range sortedKeys(set) {
			wrapped = append(wrapped, k+"="+set[k])
		}
		argv = append(wrapped, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = m.Cwd
	cmd.Env = childEnv(os.Environ(), set, m.Unset)
	return cmd, cmd.Err
}

func childEnv(environ []string, set map[string]string, unset []string) []string {
	var out []string
	for _, kv := range environ {
		k, _, _ := strings.Cut(kv, "=")
		_, ours := set[k]
		// BASH_ENV would run somebody's script before runenv.sh.
		if ours || slices.Contains(unset, k) || k == envLockDir || k == envLockFDs || k == "BASH_ENV" {
			continue
		}
		out = append(out, kv)
	}
	for _, k := range sortedKeys(set) {
		out = append(out, k+"="+set[k])
	}
	return out
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
