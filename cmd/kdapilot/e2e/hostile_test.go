package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kdapilot/cmd/kdapilot/endtoend/screen"
)

// Sequences that write the clipboard, rename the window, clear the screen, ask
// the terminal to answer, and 8-bit forms of the same.
const (
	clipboard = "\x1b]52;c;aGFja2Vk\x07"
	title     = "\x1b]2;hacked\x07"
	wipe      = "\x1b[2J\x1b[3J\x1b[H"
	ask       = "\x1b[6n\x1bP+q544e\x1b\\"
	eightBit  = "\u009b2J\u009d52;c;aGFja2Vk\u009c\x9b2J"
	evil      = clipboard + title + wipe + ask + eightBit
)

// drawn fails when any of evil was written to the terminal.
func drawn(t *testing.T, raw []byte) {
	t.Helper()
	for _, seq := range []string{"\x1b]52", "\x1b]2;hacked", "\x1b[3J", "\x1b[6n", "\x1bP+q", "\u009b", "\u009d", "\x9b2J", "\u202e"} {
		at := bytes.Index(raw, []byte(seq))
		if at >= 0 && utf8Boundary(raw, at, seq) {
			t.Errorf("%q reached the terminal: %q", seq, raw[max(at-40, 0):min(at+40, len(raw))])
		}
	}
}

// utf8Boundary is false when a single 8-bit byte is only the tail of a
// character, as in the arrows and boxes of the screen itself.
func utf8Boundary(raw []byte, at int, seq string) bool {
	return seq[0] < 0x80 || seq[0] >= 0xc0 || at == 0 || raw[at-1] < 0x80
}

// What could lie in a worktree, by mistake or on purpose. Every case opens on a
// sound worktree, so that a last good value is there to be kept.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plant func(p *place)
		keys  string
		shows []string
	}{
		"state: a pipe that nobody writes to": {func(p *place) { p.replace(state, func(at string) error { return syscall.Mkfifo(at, 0o644) }) }, "", []string{"no state file in " + loopName}},
		"state: a folder":                     {func(p *place) { p.replace(state, func(at string) error { return os.Mkdir(at, 0o755) }) }, "", []string{"no state file in " + loopName}},
		"state: a link to a device":           {func(p *place) { p.replace(state, func(at string) error { return os.Symlink("/dev/zero", at) }) }, "", []string{"no state file in " + loopName}},
		"state: a sparse terabyte":            {func(p *place) { p.sparse(state) }, "", []string{"round 3/12", "mid-write"}},
		"state: a round beyond all numbers": {func(p *place) {
			p.put(state, strings.Replace(stateText(3, "x"), "current_round: 3", "current_round: 99999999999999999999", 1))
		}, "", []string{"attention"}},
		"state: escapes in the branch": {func(p *place) { p.put(state, stateText(5, "rlcr/"+evil+"\u202etail")) }, "3", []string{"round 5/12"}},
		"state: ten thousand keys": {func(p *place) {
			p.put(state, strings.Replace(stateText(6, "x"), "session_id", strings.Repeat("key"+evil+": v\n", 10000)+"session_id", 1))
		}, "3", []string{"round"}},
		"plan: a pipe":            {func(p *place) { p.replace(planFile, func(at string) error { return syscall.Mkfifo(at, 0o644) }) }, "2", []string{"refined-plan.md, mid-write", "Be quick."}},
		"plan: a sparse terabyte": {func(p *place) { p.sparse(planFile) }, "2", []string{"refined-plan.md, mid-write", "Be quick."}},
		"plan: escapes everywhere": {func(p *place) {
			p.put(planFile, "# "+evil+"\n\n## Goal"+evil+" Description\n\n```\n"+evil+"code\n```\n\n| a"+evil+" | b |\n|---|---|\n| "+evil+" | c |\n\n[link"+evil+"](http://x"+evil+")\n")
		}, "2", []string{"Goal", "Description"}},
		"plan: nested beyond reason": {func(p *place) {
			p.put(planFile, "# P\n\n## Goal Description\n\n"+strings.Repeat("> ", 20000)+"deep\n\n"+strings.Repeat("- ", 20000)+"list\n\n"+strings.Repeat("[", 50000)+"\n")
		}, "2", []string{"Goal Description"}},
		"review: escapes and no verdict": {func(p *place) {
			p.put(filepath.Dir(state)+"/round-3-summary.md", "# Sum"+evil+"mary\n")
			p.put(filepath.Dir(state)+"/round-3-review-result.md", "# Review "+evil+"\n\nMainline Progress Verdict: "+evil+"STALLED\n")
		}, "3", []string{"[3 rounds !1]", "verdict can not be read"}},
		"git: a file name with escapes": {func(p *place) { p.put("kernels/"+strings.ReplaceAll(evil, "/", "")+".py", "x\n") }, "1", []string{"1 dirty"}},
		"git: a commit message with escapes": {func(p *place) {
			p.put("kernels/a.py", "b\n")
			p.git("branch", "rocm-kda-base/x")
			p.git("commit", "-qam", "say "+evil+"\u202e all")
		}, "1", []string{"attention"}},
		"git: HEAD is garbage":          {func(p *place) { p.put(".git/HEAD", "\x00\xff"+evil) }, "1", []string{"round 3/12", "RED"}},
		"task.toml: not a word of TOML": {func(p *place) { p.put(".humanize/kdapilot/task.toml", "\x00\xff = [[["+evil) }, "1", []string{"task.toml", "RED"}},
		"task.toml: escapes in the name": {func(p *place) {
			p.put(".humanize/kdapilot/task.toml", "slug = \"n\\u001b]52;c;aGFja2Vk\\u0007ame\\u202e\"\nfamily = \"fl\\u001b[3Jashattn\"\nbase_branch = \"b\\u001b]2;hacked\\u0007ase\"\n")
		}, "1", []string{"[1 overview]", "base"}},
		"task.toml: a family that climbs": {func(p *place) { p.put(".humanize/kdapilot/task.toml", "slug = \"s\"\nfamily = \"../../../../etc\"\n") }, "6", []string{"[6 runs"}},
		"preflight.json: garbage":         {func(p *place) { p.put(".humanize/kdapilot/preflight.json", "{\"a\": "+evil) }, "9", []string{"preflight"}},
		"journal: garbage":                {func(p *place) { p.put(".humanize/kdapilot/journal.jsonl", evil+"\n\xff\x00\n") }, "1", []string{"journal", "RED"}},
		"seals: garbage":                  {func(p *place) { p.put(".humanize/kdapilot/seals/x.json", evil) }, "1", []string{"RED"}},
		"runs: a manifest with escapes": {func(p *place) {
			p.put(".humanize/kdapilot/runs/20260821-101010-x/manifest.json", `{"id":"20260821-101010-x","preset":"p\u001b]52;c;aGFja2Vk\u0007q\u202e","argv":["\u001b[3Jecho"],"started":"2026-08-21T10:10:10Z"}`)
			p.put(".humanize/kdapilot/runs/20260821-101010-x/stdout.log", "before"+evil+"after\n"+strings.Repeat("y", 1<<20)+"\n\xff\xfe\n")
		}, "6", []string{"[6 runs"}},
		"runs: a manifest that is a folder": {func(p *place) { p.put(".humanize/kdapilot/runs/20260821-101010-x/manifest.json/x", "x") }, "6", []string{"[6 runs"}},
		"bundle: garbage in every file": {func(p *place) {
			for _, n := range []string{"bubbles.json", "capture.json", "headlines.json", "map.json", "report.json", "run.json", "REPORT.md", "kdapilot.json", "att/ui_output_agent_1_dispatch_1/code.json", "att/ui_output_agent_1_dispatch_1/filenames.json"} {
				p.put(".humanize/kdapilot/bundles/20260821-111111-b/"+n, "{\"ok\": "+evil+"\x00\xff")
			}
		}, "4", []string{"[4 stalls", "NO_ARTIFACT"}},
		"links: a circle of folders": {func(p *place) {
			at := p.path(".humanize/kdapilot/bundles/loop")
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				p.t.Fatal(err)
			}
			if err := os.Symlink(filepath.Dir(at), at); err != nil {
				p.t.Fatal(err)
			}
			p.put(filepath.Dir(state)+"/notes.md", "x")
		}, "4", []string{"[4 stalls", "round 3/12"}},
		"loops: two thousand folders": {func(p *place) {
			for i := range 2000 {
				at := p.path(".humanize/rlcr/2025-01-01_00-00-00-" + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + strconv.Itoa(i))
				if err := os.Mkdir(at, 0o755); err != nil {
					p.t.Fatal(err)
				}
			}
		}, "3", []string{"[3 rounds"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := scratch(t)
			p.put(planFile, "# A plan\n\n## Goal Description\n\nBe quick.\n")
			s := p.start(screen.Options{Argv: []string{binary, p.tree}, Cols: 160, Rows: 60})
			s.Wait("round 3/12", "clean")
			c.plant(p)
			s.Rest(500 * time.Millisecond) // what stays on screen was on it before
			s.Keys(c.keys)
			s.Wait(c.shows...)
			for _, key := range []string{"2", "3", "4", "5", "6", "9", "1"} { // it is everywhere
				s.Keys(key)
				s.Wait("[" + key + " ")
			}
			s.Keys("\x12") // read everything again
			s.Wait("[1 overview]")
			quit(t, s)
			drawn(t, s.Raw())
			p.cliIsClean(t)
		})
	}
}

// cliIsClean runs the views of show on the worktree: nothing raw is printed and
// nothing crashes.
func (p *place) cliIsClean(t *testing.T) {
	t.Helper()
	for _, view := range []string{"overview", "loops", "plan"} {
		out, code := p.cli("show", view, p.tree)
		if strings.Contains(out, "panic:") || strings.Contains(out, "goroutine ") || code == 70 {
			t.Errorf("show %s: exit %d\n%.2000s", view, code, out)
		}
		for _, r := range out {
			if r == '\x1b' || r == '\x07' || r == '\u202e' || r >= 0x80 && r < 0xa0 {
				t.Errorf("show %s prints %q\n%.2000q", view, r, out)
				break
			}
		}
	}
}

// replace puts something else than a file in a file's place.
func (p *place) replace(name string, with func(at string) error) {
	p.t.Helper()
	at := p.path(name)
	if err := os.Remove(at); err != nil {
		p.t.Fatal(err)
	}
	if err := with(at); err != nil {
		p.t.Fatal(err)
	}
}

// sparse makes a file look a terabyte long.
func (p *place) sparse(name string) {
	p.t.Helper()
	p.put(name, "---\n")
	if err := os.Truncate(p.path(name), 1<<40); err != nil {
		p.t.Skipf("NOT TESTED: no sparse file here: %v", err)
	}
}

// A folder nobody may look into is said to be so, on the tab that needs it, and
// never taken for an empty one. A superuser may look into everything, so as one
// the cockpit is started for somebody else.
func TestUnreadableFolders(t *testing.T) {
	t.Parallel()
	for dir, c := range map[string]struct {
		tab  string
		says []string // with "denied": the words may be wrapped
	}{
		".humanize/rlcr":             {"1", []string{"round 3/12", "can not be read"}},
		".humanize/rlcr/" + loopName: {"1", []string{"round 3/12", "last good values shown"}},
		".humanize/kernel-agent":     {"1", []string{"last good text shown"}},
		".humanize/kdapilot/runs":    {"6", nil},
		".humanize/kdapilot/bundles": {"4", nil},
		".humanize/kdapilot/seals":   {"1", nil},
		".humanize/kdapilot":         {"1", nil},
		".humanize":                  {"1", nil},
	} {
		t.Run(strings.ReplaceAll(dir, "/", " "), func(t *testing.T) {
			t.Parallel()
			p := scratch(t)
			p.put(planFile, "# A plan\n\n## Goal Description\n\nBe quick.\n")
			for _, name := range []string{"runs", "bundles", "seals"} {
				if err := os.MkdirAll(p.path(".humanize/kdapilot/"+name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			argv := []string{binary, p.tree}
			if os.Getuid() == 0 {
				argv = p.asNobody(argv)
			}
			s := p.start(screen.Options{Argv: argv, Cols: 160, Rows: 60})
			s.Wait("round 3/12", "clean")
			s.Keys(c.tab)
			if err := os.Chmod(p.path(dir), 0); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(p.path(dir), 0o755) })
			s.Keys("\x12")
			s.Wait(append(c.says, "denied")...)
			if err := os.Chmod(p.path(dir), 0o755); err != nil {
				t.Fatal(err)
			}
			s.Keys("\x12")
			s.Gone("denied")
			s.Wait("round 3/12")
			quit(t, s)
		})
	}
}

// asNobody gives the place to a user without rights and starts argv as that
// user.
func (p *place) asNobody(argv []string) []string {
	p.t.Helper()
	const nobody = 65534
	tool, err := exec.LookPath("setpriv")
	if err != nil {
		p.t.Skip("NOT TESTED: root reads every folder, and there is no setpriv to be somebody else")
	}
	err = filepath.WalkDir(p.dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
	if err == nil {
		err = os.Chmod(filepath.Dir(binary), 0o755)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return append([]string{tool, "--reuid=65534", "--regid=65534", "--clear-groups"}, argv...)
}

// The worktree goes away while a run writes into it, and another one comes in
// its place.
func TestTheWorktreeIsReplaced(t *testing.T) {
	t.Parallel()
	p := scratch(t)
	s := p.open()
	s.Wait("round 3/12", "clean")
	if err := os.Rename(p.tree, p.tree+".away"); err != nil {
		t.Fatal(err)
	}
	s.Wait("folder is gone")
	p.put(state, stateText(7, "rlcr/x"))
	p.git("init", "-q", "-b", "main")
	s.Keys("\x12")
	s.Wait("round 7/12")
	quit(t, s)
	restored(t, s)
}
