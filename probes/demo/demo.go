// Package demo is the room for a made-up world: a scratch checkout with a task
// worktree, a plan, a finished loop and two profiles, and the simulated tools
// that go with it (harness, flyprof, loop player), so that a person without GPU,
// ROCm, Python or an agent can press every key of the cockpit.
//
// Guarantees: everything that stands for a measurement, a GPU or a reviewer says
// SIMULATED; nothing outside the folder given to Make is written; the tools are
// reached as hidden subcommands of the binary itself (see Sim).
//
// What may not enter: meaning. What the files and the output say is decided by
// the same probes and the same engine that read the real ones.
//
// How presets of a real family run unmodified: the folder bin/ of the world
// holds two shell scripts, python3 and flyprof, that exec "$KDAPILOT_SELF __sim
// …". A process that runs with Layout.Environ finds them first on its PATH; the
// python3 one looks at the script it is asked to run (see Python).
package demo

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// Mark is the word that everything simulated carries.
const Mark = "SIMULATED"

// Environment variables of the simulated tools.
const (
	// EnvSelf is the path of the binary that plays the tools.
	EnvSelf = "KDAPILOT_SELF"
	// EnvSpeed multiplies the pace: 10 is ten times as fast, 0 means no waits.
	EnvSpeed = "KDAPILOT_SIM_SPEED"
	// EnvSeed makes the made-up numbers repeat; without it the clock seeds them.
	EnvSeed = "KDAPILOT_SIM_SEED"
	// EnvFault makes the harness misbehave: fail, error, skip or crash.
	EnvFault = "KDAPILOT_SIM_FAULT"
)

// Names inside the world.
const (
	Slug       = "fa-demo"
	Family     = "flashattn"
	Arch       = "gfx950"
	Branch     = "rlcr/" + Slug
	BaseBranch = "rocm-kda-base/" + Slug
	GPUName    = Mark + " gfx950"
	planPath   = ".humanize/kernel-agent/refined-plan.md"
	harnessRel = "tests/kernels/test_flash_attn_fwd.py"
	kernelRel  = "kernels/flash_attn_gfx950.py"
)

// Layout says where the parts of a world are. All paths are absolute.
type Layout struct {
	Dir      string // the world
	Host     string // FlyDSL-lab, the host checkout
	Worktree string // FlyDSL-fa-demo, the task worktree: open the cockpit here
	Bin      string // python3 and flyprof
	Cache    string // stands for XDG_CACHE_HOME: reviewer logs are below it
	Self     string // the binary that plays the tools
	// BaseCommit is the full SHA that BaseBranch is pinned at.
	BaseCommit string
	// Before and After are the two flyprof bundles.
	Before, After string
	// StartCommand is the slash command of gate 2 for this world.
	StartCommand string
}

// Environ gives the variables that have to be set in the cockpit's own process
// before its probes start, as KEY=value: the tools first on PATH, the cache
// folder, the binary.
func (l Layout) Environ() []string {
	return []string{
		"PATH=" + l.Bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"XDG_CACHE_HOME=" + l.Cache,
		EnvSelf + "=" + l.Self,
	}
}

// Sim plays one simulated tool: args are what follows the hidden subcommand
// __sim: harness, flyprof, loop, python or reviewer, then the tool's own
// arguments. The result is the exit status. SIGINT and SIGTERM end a tool
// cleanly.
func Sim(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if len(args) == 0 {
		fmt.Fprintln(stderr, Mark+": name a tool: harness, flyprof, loop, python or reviewer")
		return 64
	}
	switch args[0] {
	case "harness":
		return Harness(ctx, args[1:], stdout, stderr)
	case "flyprof":
		return Flyprof(ctx, args[1:], stdout, stderr)
	case "loop":
		return Loop(ctx, args[1:], stdout, stderr)
	case "python":
		return Python(ctx, args[1:], stdout, stderr)
	case "reviewer":
		return reviewer(ctx, args[1:], stdout, stderr)
	default:
		fmt.Fprintf(stderr, "%s: no tool %q: harness, flyprof, loop, python or reviewer\n", Mark, args[0])
		return 64
	}
}

// Python is the world's python3: it knows the attention harness and pytest and
// says so about anything else.
func Python(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	for len(args) > 0 && (args[0] == "-u" || args[0] == "-B") {
		args = args[1:]
	}
	switch {
	case len(args) == 0:
		fmt.Fprintln(stderr, "python3 ("+Mark+"): there is no interpreter in the demo")
		return 2
	case filepath.Base(args[0]) == filepath.Base(harnessRel):
		return Harness(ctx, args[1:], stdout, stderr)
	case len(args) > 1 && args[0] == "-m" && args[1] == "pytest":
		return pytest(ctx, args[2:], stdout)
	case len(args) > 1 && args[0] == "-c" && strings.Contains(args[1], "flydsl._mlir"):
		return importBindings(stdout, stderr)
	case args[0] == "-c", args[0] == "--version", args[0] == "-V":
		fmt.Fprintln(stdout, "Python "+Mark)
		return 0
	default:
		fmt.Fprintf(stderr, "python3 (%s): it plays %s and pytest only, not %q\n", Mark, harnessRel, args[0])
		return 2
	}
}

func pytest(ctx context.Context, args []string, stdout io.Writer) int {
	p := newPace(1)
	fmt.Fprintln(stdout, "============================= test session starts ==============================")
	fmt.Fprintln(stdout, "platform linux -- "+Mark)
	const cases = 12
	fmt.Fprintln(stdout, "collected 12 items")
	fmt.Fprintln(stdout)
	fmt.Fprint(stdout, "kernels/test_flash_attn_fwd.py ")
	for range cases {
		if !p.wait(ctx, 0.15) {
			return 130
		}
		fmt.Fprint(stdout, ".")
	}
	fmt.Fprintf(stdout, "%41s\n\n", "[100%]")
	fmt.Fprintf(stdout, "============================== %d passed in 1.80s ==============================\n", cases)
	return 0
}
