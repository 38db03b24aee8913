package preflight

import (
	"fmt"
	"strings"
	"time"

	"kdapilot/engine/fact"
	"kdapilot/engine/runs"
)

// CodexFacts are one answer of the reviewer's model, new or remembered.
type CodexFacts struct {
	// Model is the exact string of the start command.
	Model string
	// OnPath is where codex is, "" when it is nowhere.
	OnPath string
	// Asked is the model string the answer is for; "" when nobody asked.
	Asked string
	At    time.Time
	Took  time.Duration
	// Exit is nil when the process did not end by itself; Why says why.
	Exit  *int
	Reply string
	Why   string
}

// JudgeCodex is PF-01: a wrong model name is accepted at the start of a loop
// and fails at its first review.
func JudgeCodex(f CodexFacts, now time.Time) Row {
	const ask = "kdapilot preflight --probe-codex"
	switch {
	case f.OnPath == "":
		return row(Codex, Red, "install the Codex CLI and put it on PATH", "codex is not on PATH")
	case f.Asked == "":
		return row(Codex, NotRun, ask, "nobody asked "+f.Model+" yet").fix(FixCodex)
	case f.Asked != f.Model:
		return row(Codex, NotRun, ask, "the start command names "+f.Model, "the last answer was for "+f.Asked).fix(FixCodex)
	}
	line := fmt.Sprintf("%s: %q after %.1f s, %s", f.Model, f.Reply, f.Took.Seconds(), age(now.Sub(f.At)))
	switch {
	case f.Exit == nil:
		return row(Codex, Red, "correct the model name or the network, then "+ask, f.Model+": "+orNone(f.Why, "no answer")).fix(FixCodex)
	case *f.Exit != 0 || strings.TrimSpace(f.Reply) == "":
		return row(Codex, Red, "correct the model name, then "+ask, fmt.Sprintf("%s: exit %d", f.Model, *f.Exit), f.Why, f.Reply).fix(FixCodex)
	case now.Sub(f.At) > MaxAge || now.Before(f.At.Add(-time.Minute)):
		return row(Codex, NotRun, ask, line).fix(FixCodex)
	}
	return row(Codex, Green, "", line)
}

// ImportFacts are one try to import flydsl._mlir with the run environment.
type ImportFacts struct {
	Python string
	Exit   *int
	// From is where it resolved to with links followed, At without.
	From, At string
	Why      string
	Worktree string
}

// JudgeImport is PF-02.
func JudgeImport(f ImportFacts) Row {
	const do = "build (bash scripts/build.sh) or link the bindings (kdapilot new --build-from), and source runenv.sh"
	switch {
	case f.Exit == nil:
		return row(Import, Red, do, orNone(f.Why, "python gave no answer"))
	case *f.Exit != 0:
		return row(Import, Red, do, fmt.Sprintf("%s exited %d", orNone(f.Python, "python3"), *f.Exit), f.Why)
	case !inside(f.At, f.Worktree):
		return row(Import, Red, "put this worktree's python folder first in PYTHONPATH (runenv.sh)",
			"resolves to "+orNone(f.At, "nothing"), "expected below "+f.Worktree).fix(FixRunEnv)
	case f.From != f.At && f.From != "":
		return row(Import, Green, "", f.At, "linked to "+f.From)
	}
	return row(Import, Green, "", f.At)
}

// RunEnvFacts are what runenv.sh sets and whether that exists.
type RunEnvFacts struct {
	Path  string
	Found bool
	// Why is set when the script could not be sourced.
	Why string
	// Sets are "NAME=value" of what it changes; Missing the folders it names
	// that are not there.
	Sets, Missing []string
	// Own is true when PYTHONPATH begins inside the worktree.
	Own bool
}

// JudgeRunEnv is PF-03.
func JudgeRunEnv(f RunEnvFacts) Row {
	switch {
	case !f.Found:
		return row(RunEnv, Amber, "kdapilot preflight --fix runenv", f.Path+" is not there").fix(FixRunEnv)
	case f.Why != "":
		return row(RunEnv, Amber, "correct "+f.Path, f.Why)
	case len(f.Missing) > 0:
		var seen []string
		for _, m := range f.Missing {
			seen = append(seen, "not there: "+m)
		}
		return row(RunEnv, Amber, "build, or correct "+f.Path, seen...)
	case !f.Own:
		return row(RunEnv, Amber, "kdapilot preflight --fix runenv", append([]string{"PYTHONPATH does not begin with this worktree"}, f.Sets...)...).fix(FixRunEnv)
	}
	return row(RunEnv, Green, "", append([]string{f.Path}, f.Sets...)...)
}

// GPUFacts are the devices seen and the arch the task is for.
type GPUFacts struct {
	GPUs   []runs.GPU
	Origin fact.Origin
	// Planned is the task's arch, "" when the task names none.
	Planned string
}

// JudgeGPU is PF-09.
func JudgeGPU(f GPUFacts) Row {
	switch {
	case !f.Origin.Status.Known():
		return row(GPU, Unknown, "load the amdgpu driver, or install ROCm's tools", f.Origin.Why)
	case len(f.GPUs) == 0:
		return row(GPU, Red, "run on a GPU host, or give this container /dev/kfd and /dev/dri", orNone(f.Origin.Why, "no GPU"))
	}
	var seen []string
	fits := 0
	for _, g := range f.GPUs {
		seen = append(seen, strings.Join(strings.Fields(fmt.Sprintf("GPU %d %s %s %s", g.Index, g.Arch, g.Name, g.ID)), " "))
		if g.Arch == f.Planned && g.Arch != "" {
			fits++
		}
	}
	switch {
	case f.Planned == "":
		return row(GPU, Amber, "set arch in .humanize/kdapilot/task.toml", append([]string{"the task names no arch"}, seen...)...)
	case fits == 0:
		return row(GPU, Red, "run on a "+f.Planned+" host, or plan for what is here", append([]string{"planned for " + f.Planned}, seen...)...)
	}
	return row(GPU, Green, "", append([]string{fmt.Sprintf("%d of %d are %s", fits, len(f.GPUs), f.Planned)}, seen...)...)
}

// SkillFacts are the installed skills.
type SkillFacts struct {
	Dir string
	// Have and Missing are skill names; OnPath is where flyprof is.
	Have, Missing []string
	OnPath        string
	// NoFlyprof is true for families whose evidence is not flyprof's.
	NoFlyprof bool
}

// SkillNames are the seven the workflow needs.
func SkillNames() []string {
	return []string{"rocm-kda-pilot", "flyprof-capture", "flyprof-analyze", "flyprof-triage", "flyprof-usage", "rocm-report-skill", "ROCmKernelWiki"}
}

// JudgeSkills is PF-10.
func JudgeSkills(f SkillFacts) Row {
	seen := []string{fmt.Sprintf("%d of %d skills in %s", len(f.Have), len(f.Have)+len(f.Missing), f.Dir)}
	if len(f.Missing) > 0 {
		seen = append(seen, "missing: "+strings.Join(f.Missing, ", "))
	}
	needs := !f.NoFlyprof
	switch {
	case f.OnPath != "":
		seen = append(seen, "flyprof: "+f.OnPath)
	case needs:
		seen = append(seen, "flyprof is not on PATH")
	}
	if len(f.Missing) > 0 || f.OnPath == "" && needs {
		return row(Skills, Red, "kdapilot bootstrap", seen...).fix(FixSkills)
	}
	return row(Skills, Green, "", seen...)
}

// ProfilerFacts are ROCm's own half of the profiling chain.
type ProfilerFacts struct {
	// ROCProf is where rocprofv3 is; Decoder the trace decoder library; ATT is
	// true when rocprofv3's help knows thread trace, nil when it was not asked.
	ROCProf, Decoder string
	ATT              *bool
	Looked           []string
	ROCm             string
}

// JudgeProfiler asks for what a capture needs.
func JudgeProfiler(f ProfilerFacts) Row {
	switch {
	case f.ROCProf == "":
		return row(Profiler, Red, "install rocprofiler-sdk (ROCm 6.2 or newer)", "rocprofv3 is neither on PATH nor in /opt/rocm/bin")
	case f.ATT != nil && !*f.ATT:
		return row(Profiler, Red, "install a ROCm whose rocprofv3 has --att", f.ROCProf+" knows no thread trace (--att)")
	case f.Decoder == "":
		return row(Profiler, Red, "install rocprof-trace-decoder and name its folder in ROCPROF_ATT_LIBRARY_PATH",
			append([]string{"no librocprof-trace-decoder.so"}, f.Looked...)...)
	case f.ATT == nil:
		return row(Profiler, Amber, "run rocprofv3 --help by hand", f.ROCProf+" did not say what it can do", f.Decoder)
	}
	return row(Profiler, Green, "", f.ROCProf, f.Decoder, "ROCm "+orNone(f.ROCm, "of unknown version"))
}

// CommandFacts are programs by name: where each is, "" when missing.
type CommandFacts struct {
	Need, Wish map[string]string
}

// JudgeCommands asks for the programs that Humanize and the workflow start.
func JudgeCommands(f CommandFacts) Row {
	var seen, missing []string
	for _, name := range sorted(f.Need) {
		if f.Need[name] == "" {
			missing = append(missing, name)
			continue
		}
		seen = append(seen, name+": "+f.Need[name])
	}
	for _, name := range sorted(f.Wish) {
		if f.Wish[name] == "" {
			seen = append(seen, name+" is not on PATH (needed for issue text only)")
		}
	}
	if len(missing) > 0 {
		return row(Commands, Red, "install them and put them on PATH", append([]string{"missing: " + strings.Join(missing, ", ")}, seen...)...)
	}
	return row(Commands, Green, "", seen...)
}

// HumanizeFacts are the installed plugin.
type HumanizeFacts struct {
	// Version is "" when none was found; Path is the plugin's folder.
	Version, Path string
	Looked        []string
	Why           string
}

// JudgeHumanize wants a release whose files this program knows.
func JudgeHumanize(f HumanizeFacts) Row {
	const do = "in Claude Code: /plugin marketplace add PolyArch/humanize, /plugin install humanize@PolyArch, /reload-plugins"
	switch {
	case f.Path == "":
		return row(Humanize, Red, do, append([]string{orNone(f.Why, "no humanize plugin found")}, f.Looked...)...)
	case f.Version == "":
		return row(Humanize, Amber, "look into its plugin.json", f.Path+" names no version")
	}
	major, minor, ok := version(f.Version)
	switch {
	case !ok:
		return row(Humanize, Amber, "look into its plugin.json", "version "+f.Version, f.Path)
	case major < 1 || major == 1 && minor < 5:
		return row(Humanize, Red, do, "version "+f.Version+" knows no --base-branch", f.Path)
	case major == 1 && minor < 16:
		return row(Humanize, Amber, "update it: 1.16 brought the stall breaker", "version "+f.Version, f.Path)
	case major > 1 || minor > 17:
		return row(Humanize, Amber, "read its changes: its files were checked up to 1.17", "version "+f.Version, f.Path)
	}
	return row(Humanize, Green, "", "version "+f.Version, f.Path)
}

func version(s string) (major, minor int, ok bool) {
	n, _ := fmt.Sscanf(strings.TrimPrefix(s, "v"), "%d.%d", &major, &minor)
	return major, minor, n == 2
}
