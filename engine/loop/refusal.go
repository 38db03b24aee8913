package loop

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kdapilot/engine/fact"
)

// Git is what the stop hook asks of git. The zero value means that git was not
// asked and refuses nothing.
type Git struct {
	Known bool
	// Branch is the current one, literally HEAD when detached.
	Branch string
	// Dirty are the paths that keep the tree from being clean, without those
	// Humanize exempts (untracked .humanize/… and .humanize-…).
	Dirty []string
	// TrackedHumanize are tracked or staged paths under .humanize.
	TrackedHumanize []string
	// PlanDirty says that a tracked plan has uncommitted changes.
	PlanDirty bool
	// Ahead is how many commits are not pushed, where the loop pushes each round.
	Ahead int
}

// Refusals lists why the next stop would be refused or would end the loop, in
// the order of Humanize's gates, as far as the files and git decide it. Open
// tasks and over-long files are not seen here.
func (l *Loop) Refusals(g Git, lessons Bitlessons) []Refusal {
	if !l.Active() || !l.Origin.Status.Known() {
		if l.Active() && l.Origin.Status == fact.Unreadable {
			return []Refusal{{Gate: "state", Ends: true, Text: "state file not readable: Humanize would end the loop as unexpected", Path: l.Origin.Path}}
		}
		return []Refusal{}
	}
	c := refusals{l: l, out: []Refusal{}}
	c.schema()
	c.branch(g)
	if string(l.StateFile) == stateActive && !l.ReviewStarted {
		c.plan(g)
	}
	if string(l.StateFile) == stateAnalysis {
		c.analysis()
		return c.out
	}
	c.tree(g)
	if string(l.StateFile) == stateFinalize {
		if l.Closing.FinalizeSummary < 0 {
			c.add("summary", "finalize-summary.md is missing")
		}
		return c.out
	}
	c.papers(lessons)
	if !l.ReviewStarted {
		c.implementation()
	}
	return c.out
}

type refusals struct {
	l   *Loop
	out []Refusal
}

func (c *refusals) add(gate, format string, args ...any) *Refusal {
	c.out = append(c.out, Refusal{Gate: gate, Text: fmt.Sprintf(format, args...)})
	return &c.out[len(c.out)-1]
}

var (
	reModel  = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
	reEffort = regexp.MustCompile(`^(xhigh|high|medium|low)$`)
)

func (c *refusals) schema() {
	l := c.l
	if l.Model != "" && !reModel.MatchString(l.Model) {
		c.add("model", "codex_model %q: the loop would end as unexpected", l.Model).Ends = true
	}
	if l.Effort != "" && !reEffort.MatchString(l.Effort) {
		c.add("model", "codex_effort %q, expected xhigh, high, medium or low: the loop would end as unexpected", l.Effort).Ends = true
	}
	for _, key := range []string{"plan_tracked", "start_branch", "review_started", "base_branch"} {
		if !l.Has(key) {
			c.add("schema", "state has no %s: started by an older Humanize, cancel and start anew", key).Path = l.Origin.Path
		}
	}
}

func (c *refusals) branch(g Git) {
	if g.Known && c.l.StartBranch != "" && g.Branch != c.l.StartBranch {
		c.add("branch", "on branch %s, started on %s", g.Branch, c.l.StartBranch)
	}
}

func (c *refusals) plan(g Git) {
	p := c.l.Plan
	switch {
	case p.Backup == fact.Missing:
		c.add("plan-backup", "plan.md is missing from the loop folder")
	case p.File == fact.Missing:
		c.add("plan-missing", "plan file %s is gone", c.l.PlanFile)
	case p.Differs:
		c.add("plan-differs", "plan file %s differs from the loop's copy plan.md", c.l.PlanFile)
	case g.Known && c.l.PlanTracked && g.PlanDirty:
		c.add("plan-differs", "tracked plan file %s has uncommitted changes", c.l.PlanFile)
	}
}

func (c *refusals) analysis() {
	if c.l.Closing.AnalysisReport <= 0 {
		c.add("analysis", "methodology-analysis-report.md is not written")
	}
	if c.l.Closing.AnalysisDone <= 0 {
		c.add("analysis", "methodology-analysis-done.md is empty: the analysis is not done")
	}
}

func (c *refusals) tree(g Git) {
	if !g.Known {
		return
	}
	if n := len(g.TrackedHumanize); n > 0 {
		c.add("tracked-humanize", "%s is tracked or staged in git", some(g.TrackedHumanize))
	}
	if n := len(g.Dirty); n > 0 {
		c.add("dirty-tree", "tree is not clean: %s", some(g.Dirty))
	}
	if c.l.PushEveryRound && g.Ahead > 0 {
		c.add("unpushed", "%d commits are not pushed", g.Ahead)
	}
}

func some(paths []string) string {
	if len(paths) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:3], ", "), len(paths)-3)
	}
	return strings.Join(paths, ", ")
}

// papers checks summary, contract and BitLesson delta of the open round.
func (c *refusals) papers(lessons Bitlessons) {
	l := c.l
	r := l.RoundN(l.Round.N)
	if r == nil {
		r = &Round{N: l.Round.N}
	}
	name := fmt.Sprintf("round-%d-summary.md", r.N)
	if !r.Has("summary") {
		c.add("summary", "%s is missing", name)
	}
	if !r.Has("contract") && l.Has("drift_status") {
		c.add("contract", "round-%d-contract.md is missing", r.N)
	}
	if !l.BitlessonNeeded || !r.Has("summary") || r.Summary.Status != fact.OK {
		return
	}
	d := r.Summary.Delta
	text := d.Problem
	if text == "" && d.Action == "none" && !l.BitlessonEmptyOK && lessons.Origin.Status != fact.NotRead && lessons.Count == 0 {
		text = "Action none is not allowed while " + orWord(Word(l.BitlessonFile), "bitlesson.md") + " has no lesson"
	}
	if text == "" && d.Action != "none" && lessons.Origin.Status == fact.OK {
		for _, id := range d.IDs {
			if !slices.Contains(lessons.IDs, id) && lessons.Count == len(lessons.IDs) {
				text = "lesson " + id + " is not in " + orWord(Word(l.BitlessonFile), "bitlesson.md")
				break
			}
		}
	}
	if text != "" {
		ref := c.add("bitlesson", "BitLesson delta: %s", text)
		ref.Path, ref.Line = name, d.Line
	}
}

// implementation checks what only the implementation phase asks.
func (c *refusals) implementation() {
	l := c.l
	if l.Round == known(0) && l.Tracker.Placeholder {
		c.add("tracker", "goal-tracker.md still holds [To be …] placeholders").Path = "goal-tracker.md"
	}
	if l.Round.Known && l.Max.Known && l.Round.N >= l.Max.N {
		c.add("round-limit", "round %d of %d: the next stop ends the loop as maxiter without a review", l.Round.N, l.Max.N).Ends = true
		return
	}
	r := l.RoundN(l.Round.N)
	if r == nil || !l.stuckOnVerdict(r) {
		return
	}
	ref := c.add("verdict", "round-%d-review-result.md has no usable verdict and is only replaced once it is gone or the reviewer rewrites it", r.N)
	ref.Path, ref.Line = fmt.Sprintf("round-%d-review-result.md", r.N), r.VerdictLineNo
}

// stuckOnVerdict: the open round has a summary review that Humanize could not
// read.
func (l *Loop) stuckOnVerdict(r *Round) bool {
	return !l.ReviewStarted && r.Kind == SummaryReview && r.Verdict == UnknownVerdict && r.Marker != MarkStop &&
		r.ReviewStatus.Status == fact.OK && l.Round == known(r.N)
}
