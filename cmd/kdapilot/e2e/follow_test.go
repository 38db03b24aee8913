package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Between a change on disk and its word on screen no key is pressed, whichever
// tab is open.
func TestTheScreenFollowsWithoutAKey(t *testing.T) {
	t.Parallel()
	p := world(t)
	s := p.demo()
	s.Wait("the plan waits for review")

	// Overview: git.
	p.put("kernels/new_kernel.py", "x = 1\n")
	s.Wait("1 dirty")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "Add a kernel nobody asked for")
	s.Wait("clean", p.git("rev-parse", "HEAD")[:9], "5 commits", "Add a kernel nobody asked for")
	was := p.git("rev-parse", base)
	p.git("branch", "-f", base, "HEAD")
	s.Wait("base " + base + " moved")
	p.git("branch", "-f", base, was)
	s.Gone("moved")

	// Plan.
	s.Keys("2")
	s.Wait("[2 plan]", "outline")
	plan, err := os.ReadFile(p.path(planFile))
	if err != nil {
		t.Fatal(err)
	}
	p.put(planFile, strings.Replace(string(plan), "## Goal Description\n", "## Goal Description\n\nA line that came later.\n", 1))
	s.Wait("A line that came later.")

	// Stalls: a bundle that somebody captured beside the cockpit.
	s.Keys("4")
	s.Wait("[4 stalls", "-prefetch2")
	p.copyTo(".humanize/kdapilot/bundles/*-baseline", ".humanize/kdapilot/bundles/20361201-101010-third")
	s.Wait("20361201-101010-third")

	// Bench and runs: a run that another cockpit finished.
	s.Keys("6")
	all, err := filepath.Glob(p.path(".humanize/kdapilot/runs/2*"))
	if err != nil {
		t.Fatal(err)
	}
	s.Wait("[6 runs", fmt.Sprintf("%d runs  newest first", len(all)))
	p.copyTo(".humanize/kdapilot/runs/*smoke*", ".humanize/kdapilot/runs/20361201-1111-smoke")
	s.Wait(fmt.Sprintf("%d runs  newest first", len(all)+1))

	// Rounds: a loop moves on and ends.
	s.Keys("3")
	s.Wait("[3 rounds")
	dir := ".humanize/rlcr/2036-01-01_00-00-00/"
	p.put(dir+"state.md", stateText(0, "rlcr/fa-demo"))
	s.Wait("implementing", "round 0/12")
	p.put(dir+"round-0-summary.md", "# Summary\n\nDone.\n")
	p.put(dir+"round-0-review-result.md", "# Review\n\nMainline Progress Verdict: STALLED\n")
	s.Wait("stalled")
	p.put(dir+"state.md", stateText(1, "rlcr/fa-demo"))
	s.Wait("round 1/12")
	if err := os.Rename(p.path(dir+"state.md"), p.path(dir+"cancel-state.md")); err != nil {
		t.Fatal(err)
	}
	s.Wait("ended: cancel")
	quit(t, s)
}

// copyTo copies the first folder that fits a pattern.
func (p *place) copyTo(pattern, name string) {
	p.t.Helper()
	found, err := filepath.Glob(p.path(pattern))
	if err != nil || len(found) == 0 {
		p.t.Fatalf("%s: %v %v", pattern, found, err)
	}
	if out, err := exec.Command("cp", "-r", found[0], p.path(name)).CombinedOutput(); err != nil {
		p.t.Fatalf("%v %s", err, out)
	}
}
