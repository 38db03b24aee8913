package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// errStopped ends a player: the context is over, or somebody ended the loop.
var errStopped = errors.New("stopped")

// player moves one loop through its phases by writing the files that Humanize,
// the implementing agent and the reviewer would write. A live player waits and
// starts real reviewer processes; otherwise it writes the past at once, with the
// times of its own clock.
type player struct {
	ctx   context.Context
	live  bool
	pace  pace
	clock time.Time // used when not live
	root  string
	self  string
	cache string // humanize's cache folder
	dir   string // the loop's folder
	st    state
	story story
}

// state is state.md.
type state struct {
	round, max, timeout, full, stall        int
	model, effort, plan, branch, base, sha  string
	session, verdict, drift                 string
	push, tracked, reviewStarted, ask, priv bool
	allowEmpty                              bool
	started                                 time.Time
}

func (s state) text() string {
	var b strings.Builder
	b.WriteString("---\n")
	for _, kv := range []struct {
		k string
		v any
	}{
		{"current_round", s.round}, {"max_iterations", s.max}, {"codex_model", s.model}, {"codex_effort", s.effort}, {"codex_timeout", s.timeout},
		{"push_every_round", s.push}, {"full_review_round", s.full}, {"plan_file", s.plan}, {"plan_tracked", s.tracked}, {"start_branch", s.branch},
		{"base_branch", s.base}, {"base_commit", s.sha}, {"review_started", s.reviewStarted}, {"ask_codex_question", s.ask}, {"session_id", s.session},
		{"agent_teams", false}, {"privacy_mode", s.priv}, {"bitlesson_required", true}, {"bitlesson_file", ".humanize/bitlesson.md"},
		{"bitlesson_allow_empty_none", s.allowEmpty}, {"mainline_stall_count", s.stall}, {"last_mainline_verdict", s.verdict}, {"drift_status", s.drift},
		{"started_at", s.started.UTC().Format("2006-01-02T15:04:05Z")},
	} {
		if v, ok := kv.v.(string); ok && v == "" {
			fmt.Fprintf(&b, "%s:\n", kv.k)
			continue
		}
		fmt.Fprintf(&b, "%s: %v\n", kv.k, kv.v)
	}
	b.WriteString("---\n")
	return b.String()
}

func (p *player) now() time.Time {
	if p.live {
		return time.Now()
	}
	return p.clock
}

// wait lets made-up work pass. It fails when the context is over or the loop's
// state file is gone, that is when somebody cancelled it.
func (p *player) wait(seconds float64) error {
	if !p.live {
		p.clock = p.clock.Add(time.Duration(seconds*45) * time.Second)
		return p.ctx.Err()
	}
	if !p.pace.wait(p.ctx, seconds) {
		return errStopped
	}
	if p.dir != "" {
		if _, err := os.Stat(p.dir); err != nil {
			return errStopped
		}
		if _, err := os.Stat(filepath.Join(p.dir, ".cancel-requested")); err == nil {
			return errStopped
		}
	}
	return nil
}

// put writes a file of the loop in place; past loops get the clock's time.
func (p *player) put(path, text string) error {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.dir, path)
	}
	// A world that somebody removed must not come back file by file.
	if p.live && !isDir(p.root) {
		return errStopped
	}
	if err := write(path, []byte(text), 0o644); err != nil {
		return err
	}
	return p.stamp(path)
}

func (p *player) stamp(path string) error {
	if p.live {
		return nil
	}
	return os.Chtimes(path, p.clock, p.clock)
}

// saveState replaces state.md the way the stop hook does: write beside it, then
// rename.
func (p *player) saveState() error {
	tmp := filepath.Join(p.dir, fmt.Sprintf("state.md.tmp.%d", os.Getpid()))
	if err := p.put(tmp, p.st.text()); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(p.dir, "state.md"))
}

func (p *player) rename(from, to string) error {
	return os.Rename(filepath.Join(p.dir, from), filepath.Join(p.dir, to))
}

// run plays the whole loop.
func (p *player) run() error {
	if err := p.setup(); err != nil {
		return err
	}
	if err := p.bind(); err != nil {
		return err
	}
	for i := range p.story.rounds {
		if err := p.round(i); err != nil {
			return err
		}
		if p.st.round >= p.st.max {
			return p.end("maxiter")
		}
		done, err := p.summaryReview(i)
		if err != nil {
			return err
		}
		if done {
			break
		}
	}
	if err := p.codeReview(); err != nil {
		return err
	}
	return p.finalize()
}

// setup makes the loop folder: everything before state.md first, as the script
// does.
func (p *player) setup() error {
	p.st.started = p.now()
	p.dir = filepath.Join(p.root, ".humanize", "rlcr", p.now().Format("2006-01-02_15-04-05"))
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	plan, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(p.st.plan)))
	if err != nil {
		return err
	}
	if err := p.put("plan.md", string(plan)); err != nil {
		return err
	}
	if err := p.put("goal-tracker.md", p.story.tracker(-1)); err != nil {
		return err
	}
	lessons := filepath.Join(p.root, ".humanize", "bitlesson.md")
	if _, err := os.Stat(lessons); err != nil {
		if err := p.put(lessons, "# BitLesson Knowledge Base\n\n"+Mark+"\n\n## Entries\n"); err != nil {
			return err
		}
	}
	if err := p.put("state.md", p.st.text()); err != nil {
		return err
	}
	if err := p.open(0); err != nil {
		return err
	}
	script := filepath.Join(p.root, ".humanize", Mark, "setup-rlcr-loop.sh")
	return p.put(filepath.Join(p.root, ".humanize", ".pending-session-id"), filepath.Join(p.dir, "state.md")+"\n"+script+"\n")
}

// bind is what the first tool hook of the agent's session does.
func (p *player) bind() error {
	if err := p.wait(1.2); err != nil {
		return err
	}
	r := dice(uint64(p.now().UnixNano()), "session")
	p.st.session = fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", r.Uint32(), r.Uint32()&0xffff, r.Uint32()&0xfff, r.Uint32()&0xfff, r.Uint64()&0xffffffffffff)
	if err := p.saveState(); err != nil {
		return err
	}
	return os.Remove(filepath.Join(p.root, ".humanize", ".pending-session-id"))
}

// open puts prompt and summary scaffold of a round there.
func (p *player) open(round int) error {
	if err := p.put(fmt.Sprintf("round-%d-prompt.md", round), fmt.Sprintf("# Round %d (%s)\n\n%s\n", round, Mark, p.story.prompt(round))); err != nil {
		return err
	}
	return p.put(fmt.Sprintf("round-%d-summary.md", round), scaffold(round))
}

// round is the implementing agent's work: contract, change, commit, tracker,
// summary.
func (p *player) round(i int) error {
	r := p.story.rounds[i]
	n := p.st.round
	if err := p.wait(3); err != nil {
		return err
	}
	if err := p.put(fmt.Sprintf("round-%d-contract.md", n), r.contract(n)); err != nil {
		return err
	}
	if err := p.put("goal-tracker.md", p.story.tracker(i)); err != nil {
		return err
	}
	if err := p.wait(5); err != nil {
		return err
	}
	if err := p.change(r, n); err != nil {
		return err
	}
	if err := p.wait(3); err != nil {
		return err
	}
	return p.put(fmt.Sprintf("round-%d-summary.md", n), r.summary(n))
}

// change edits the kernel's constant, if the round has one, adds the ledger row
// and commits both.
func (p *player) change(r roundStory, round int) error {
	kernel := filepath.Join(p.root, filepath.FromSlash(kernelRel))
	if r.knob != "" {
		b, err := os.ReadFile(kernel)
		if err != nil {
			return err
		}
		b = knobLine(r.knob).ReplaceAll(b, fmt.Appendf(nil, "%s = %d", r.knob, r.value))
		if err := os.WriteFile(kernel, b, 0o644); err != nil {
			return err
		}
	}
	ledger := filepath.Join(p.root, "docs", "optimization-ledger.md")
	b, err := os.ReadFile(ledger)
	if err != nil {
		return err
	}
	b = fmt.Appendf(b, "| %d | %s | %s | %s | %s | %s |\n", round, r.hypothesis, r.subject, r.result, r.decision, r.evidence)
	if err := os.WriteFile(ledger, b, 0o644); err != nil {
		return err
	}
	when := time.Time{}
	if !p.live {
		when = p.clock
	}
	if _, err := git(p.ctx, p.root, when, "add", "--", kernelRel, "docs/optimization-ledger.md"); err != nil {
		return err
	}
	_, err = git(p.ctx, p.root, when, "commit", "-q", "-m", r.subject)
	return err
}

// summaryReview is the reviewer's turn after round i. done means COMPLETE.
func (p *player) summaryReview(i int) (done bool, err error) {
	r := p.story.rounds[i]
	n := p.st.round
	if err := p.put(fmt.Sprintf("round-%d-review-prompt.md", n), fmt.Sprintf("# Review of round %d (%s)\n", n, Mark)); err != nil {
		return false, err
	}
	if err := p.review(fmt.Sprintf("round-%d-codex-run", n), false, 7); err != nil {
		return false, err
	}
	if err := p.put(fmt.Sprintf("round-%d-review-result.md", n), r.review(p.story)); err != nil {
		return false, err
	}
	if r.complete {
		p.st.stall, p.st.verdict, p.st.drift, p.st.reviewStarted = 0, "advanced", "normal", true
		if err := p.saveState(); err != nil {
			return false, err
		}
		return true, p.put(".review-phase-started", fmt.Sprintf("build_finish_round=%d\n", n))
	}
	p.st.verdict = strings.ToLower(r.verdict)
	if r.verdict == "ADVANCED" {
		p.st.stall, p.st.drift = 0, "normal"
	} else if p.st.stall++; p.st.stall >= 2 {
		p.st.drift = "replan_required"
	}
	p.st.round++
	if err := p.saveState(); err != nil {
		return false, err
	}
	return false, p.open(p.st.round)
}

// codeReview is the review of the whole diff: findings first, then clean. Its
// files carry the number of the round that would follow.
func (p *player) codeReview() error {
	next := p.st.round + 1
	if err := p.auditNote(next); err != nil {
		return err
	}
	if err := p.review(fmt.Sprintf("round-%d-codex-review", next), true, 6); err != nil {
		return err
	}
	// The stop hook copies the log from the first marked line on.
	_, marked, _ := strings.Cut(p.story.findings(p.root), "\n- [P")
	if err := p.put(fmt.Sprintf("round-%d-review-result.md", next), "- [P"+marked); err != nil {
		return err
	}
	p.st.round = next
	if err := p.saveState(); err != nil {
		return err
	}
	if err := p.open(next); err != nil {
		return err
	}
	fix := p.story.fix
	if err := p.wait(4); err != nil {
		return err
	}
	if err := p.put(fmt.Sprintf("round-%d-contract.md", next), fix.contract(next)); err != nil {
		return err
	}
	if err := p.change(fix, next); err != nil {
		return err
	}
	if err := p.wait(2); err != nil {
		return err
	}
	if err := p.put(fmt.Sprintf("round-%d-summary.md", next), fix.summary(next)); err != nil {
		return err
	}
	// In this phase every stop rewrites a summary review prompt it never sends.
	if err := p.put(fmt.Sprintf("round-%d-review-prompt.md", next), fmt.Sprintf("# Review of round %d (%s)\n", next, Mark)); err != nil {
		return err
	}
	if err := p.auditNote(next + 1); err != nil {
		return err
	}
	return p.review(fmt.Sprintf("round-%d-codex-review", next+1), true, 4)
}

func (p *player) auditNote(round int) error {
	return p.put(fmt.Sprintf("round-%d-review-prompt.md", round),
		fmt.Sprintf("# Code review (%s)\n\nBase branch: %s\nTimestamp: %s\n", Mark, p.st.base, p.now().UTC().Format("2006-01-02T15:04:05Z")))
}

func (p *player) finalize() error {
	if err := p.rename("state.md", "finalize-state.md"); err != nil {
		return err
	}
	if err := p.wait(4); err != nil {
		return err
	}
	if err := p.put("goal-tracker.md", p.story.tracker(len(p.story.rounds))); err != nil {
		return err
	}
	if err := p.put("finalize-summary.md", "# Finalize Summary\n\nNothing left to fold; the sweep still has 440 rows, 0 FAIL ("+Mark+").\n"); err != nil {
		return err
	}
	return p.endFrom("finalize-state.md", "complete")
}

func (p *player) end(outcome string) error { return p.endFrom("state.md", outcome) }

// endFrom passes through the analysis phase unless privacy is on.
func (p *player) endFrom(from, outcome string) error {
	if p.st.priv {
		return p.rename(from, outcome+"-state.md")
	}
	if err := p.put(".methodology-exit-reason", outcome+"\n"); err != nil {
		return err
	}
	if err := p.rename(from, "methodology-analysis-state.md"); err != nil {
		return err
	}
	if err := p.put("methodology-analysis-done.md", ""); err != nil {
		return err
	}
	if err := p.wait(4); err != nil {
		return err
	}
	if err := p.put("methodology-analysis-report.md", "One round in four was spent on a lever the profile did not name ("+Mark+").\n"); err != nil {
		return err
	}
	if err := p.put("methodology-analysis-done.md", "done, no issue filed\n"); err != nil {
		return err
	}
	if err := p.rename("methodology-analysis-state.md", outcome+"-state.md"); err != nil {
		return err
	}
	return os.Remove(filepath.Join(p.dir, ".methodology-exit-reason"))
}
