package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kdapilot/engine/preflight"
	"kdapilot/engine/runs"
)

// Folders of the world that stand for parts of a host. They are looked at by
// preflight alone: nothing is started with them on PATH.
const (
	hostTools  = "host/bin"
	hostClaude = "host/claude"
	hostROCm   = "host/rocm"
	buildDir   = "build-fly-own"
)

// HostEnv is the environment in which preflight of the world's task worktree
// finds the world's stand-ins in place of a host's own parts.
func HostEnv(worktree string, environ []string) []string {
	dir := filepath.Dir(worktree)
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	path := []string{at("bin"), at(hostTools), os.Getenv("PATH")}
	return append(slices.Clone(environ),
		"PATH="+strings.Join(path, string(os.PathListSeparator)),
		"CLAUDE_CONFIG_DIR="+at(hostClaude), "CLAUDE_SKILLS_DIR="+at(hostClaude+"/skills"),
		"ROCM_PATH="+at(hostROCm), "ROCPROF_ATT_LIBRARY_PATH="+at(hostROCm+"/lib"), "XDG_CACHE_HOME="+at("cache"),
	)
}

// GPUs are the devices of the world.
func GPUs() []runs.GPU { return []runs.GPU{{Index: 0, ID: Mark, Name: GPUName, Arch: Arch}} }

// standIns makes what preflight looks for on a host: programs, skills, plugin,
// profiler. Each says what it is.
func (w *world) standIns() error {
	script := func(says string) string {
		return "#!/bin/sh\n# " + Mark + ": a stand-in, it does nothing.\necho '" + says + "'\n"
	}
	files := map[string]string{
		hostTools + "/codex":                                  script("OK (" + Mark + ")"),
		hostTools + "/claude":                                 script(Mark),
		hostTools + "/jq":                                     script(Mark),
		hostTools + "/rocprofv3":                              script(Mark + ": knows --att by name only"),
		hostROCm + "/.info/version":                           Mark + "\n",
		hostROCm + "/lib/librocprof-trace-decoder.so." + Mark: Mark + "\n",
	}
	plugin, err := json.Marshal(map[string]string{"name": "humanize", "version": "1.17.0-" + Mark})
	if err != nil {
		return err
	}
	files[hostClaude+"/plugins/humanize/.claude-plugin/plugin.json"] = string(plugin) + "\n"
	for _, name := range preflight.SkillNames() {
		files[hostClaude+"/skills/"+name+"/SKILL.md"] = "# " + name + "\n\n" + Mark + ": a stand-in, there is no skill here.\n"
	}
	for name, body := range files {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(name, hostTools+"/") {
			mode = 0o755
		}
		if err := write(filepath.Join(w.l.Dir, filepath.FromSlash(name)), []byte(body), mode); err != nil {
			return err
		}
	}
	return w.bindings()
}

// bindings stand for a private build of the compiled part in the task worktree.
func (w *world) bindings() error {
	built := filepath.Join(w.l.Worktree, buildDir, "python_packages", "flydsl", "_mlir")
	for _, f := range []string{"__init__.py", "_mlir_libs/_mlir.so"} {
		if err := write(filepath.Join(built, filepath.FromSlash(f)), []byte("# "+Mark+"\n"), 0o644); err != nil {
			return err
		}
	}
	return os.Symlink(built, filepath.Join(w.l.Worktree, "python", "flydsl", "_mlir"))
}

// importBindings plays python3 on the script by which preflight asks where the
// bindings come from.
func importBindings(stdout, stderr io.Writer) int {
	at, err := filepath.Abs(filepath.Join("python", "flydsl", "_mlir", "__init__.py"))
	from, linkErr := filepath.EvalSymlinks(at)
	if err != nil || linkErr != nil {
		fmt.Fprintln(stderr, "ModuleNotFoundError: No module named 'flydsl._mlir' ("+Mark+")")
		return 1
	}
	if err := json.NewEncoder(stdout).Encode(map[string]string{"at": at, "from": from}); err != nil {
		return 1
	}
	return 0
}

// mergeGate writes the run of the merge gate at the base that preflight asks
// for.
func (w *world) mergeGate() error {
	w.now = w.now.Add(5 * time.Minute)
	cmd, err := presetCommand("full-gate", w.l.Worktree)
	if err != nil {
		return err
	}
	m, dir, err := w.manifest("full-gate", cmd, "base", 0x90)
	if err != nil {
		return err
	}
	m.Kind, m.ExpectedCells, m.Captures = runs.Other, nil, nil
	if err := writeJSON(filepath.Join(dir, "manifest.json"), m); err != nil {
		return err
	}
	gate := exec.CommandContext(w.ctx, cmd.Argv[0], cmd.Argv[1:]...)
	gate.Dir = w.l.Worktree
	said, err := gate.Output()
	if err != nil {
		return fmt.Errorf("play %s: %w", strings.Join(cmd.Argv, " "), err)
	}
	for name, b := range map[string][]byte{"stdout.log": said, "stderr.log": nil} {
		if err := write(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return w.closeRun(dir, m, 0, 3)
}
