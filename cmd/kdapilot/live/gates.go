package live

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"kdapilot/cmd/kdapilot/families"
	"kdapilot/engine/fact"
	"kdapilot/engine/family"
	"kdapilot/engine/gate"
	"kdapilot/engine/journal"
	"kdapilot/engine/loop"
	"kdapilot/engine/plan"
	"kdapilot/engine/repo"
	"kdapilot/engine/session"
	"kdapilot/engine/task"
	"kdapilot/engine/text"
	planprobe "kdapilot/probes/plan"
	"kdapilot/probes/readfile"
	"kdapilot/probes/tmux"
)

// gateReader is what readPlan remembers between runs.
type gateReader struct {
	mu sync.Mutex // one reading at a time: a job and an action may both ask
	// judges by base commit and list of paths.
	judgeKey string
	judges   []gate.Bound
	// voided are the seals whose voiding is already in the journal.
	voided map[string]string
}

func newGateReader() *gateReader { return &gateReader{voided: map[string]string{}} }

// lockedBase is what git is asked to compare HEAD with.
func (s *Session) lockedBase() string {
	snap := s.Snapshot()
	if b := snap.Task.BaseBranch; b != "" {
		return b
	}
	if l := snap.Loops.Current(); l != nil {
		return l.BaseBranch
	}
	return ""
}

// readPlan reads task, plan, draft, judges and seals, and publishes what the
// gates say.
func (s *Session) readPlan(ctx context.Context) {
	// There is no second reading that would know more.
	if s.opt.Once && awaitFirst(ctx, s.jobs.ready, s.jobs.repo, s.jobs.loops) != nil {
		return
	}
	s.gates.mu.Lock()
	defer s.gates.mu.Unlock()
	s.readTask()
	snap := s.Snapshot()
	planFile, draft := s.plans.Read(snap.Task.PlanFile()), s.plans.Read(snap.Task.DraftFile())
	doc := plan.Parse(planFile.Bytes)
	f := s.gateFacts(ctx, planFile, draft, doc)
	if ctx.Err() != nil {
		return
	}
	g := s.gatesNow(ctx, f)
	p := session.Plan{Doc: doc, Text: f.PlanText, Origin: planFile.Origin, Draft: draft.Origin, Issues: f.Issues, Approved: s.approved(g.G1)}
	before := s.Snapshot()
	s.apply(session.PlanRead{Plan: p}, session.GatesRead{Gates: g})
	if len(g.G1Broken) > 0 && len(before.Gates.G1Broken) == 0 && before.Gates.Known {
		s.events.put(session.Event{Kind: session.GateVoided, Bad: true, Text: "seal of gate 1 is void: " + g.G1Broken[0].String()})
	}
}

func (s *Session) readTask() {
	t, err := s.store.Task()
	st := session.Task{Task: t}
	if err != nil {
		st.Why = oneLine(err)
	}
	was := s.Snapshot().Task
	s.apply(session.TaskRead{Task: st})
	if was.Family != t.Family || s.Snapshot().Family == nil {
		s.readFamily(t)
	}
	if was.BaseBranch != t.BaseBranch {
		s.jobs.repo.poke()
	}
	if was.BaseCommit != t.BaseCommit || was.Family != t.Family {
		s.jobs.runs.poke() // what is compared with what depends on both
	}
}

// defaultFamily is what a worktree without task.toml gets for its presets.
const defaultFamily = "flashattn"

func (s *Session) readFamily(t task.Task) {
	name := t.Family
	if name == "" {
		name = defaultFamily
	}
	f, err := families.Load(name)
	if err != nil {
		s.apply(session.FamilyRead{Why: oneLine(err)})
		return
	}
	for preset, p := range t.Presets {
		f = f.Override(preset, p.Argv, p.Env)
	}
	s.apply(session.FamilyRead{Family: &f})
}

// gateFacts gathers everything the gates look at.
func (s *Session) gateFacts(ctx context.Context, planFile, draft planprobe.File, doc *plan.Doc) *gate.Facts {
	snap := s.Snapshot()
	t := snap.Task.Task
	f := &gate.Facts{
		Now: s.opt.Now(), Plan: boundFile(planFile), PlanText: text.Clean(string(planFile.Bytes)), Draft: boundFile(draft),
		Sections: sectionsOf(doc), Repo: snap.Repo, BaseBranch: t.BaseBranch, BaseCommit: t.BaseCommit,
		LoopsKnown: snap.Loops.Origin.Status.Known() || snap.Loops.Origin.Status == fact.Missing, Argv: gate.StartArgv(t),
	}
	if l := snap.Loops.Current(); l != nil && l.Phase.Active() {
		f.ActiveLoop = l.Name
	} else if l != nil && l.Origin.Status == fact.Unreadable {
		f.LoopsKnown = false // it may well be running
	}
	f.Judges, f.JudgesWhy = s.judgesAtBase(ctx, snap.Family, snap.Repo.Base)
	s.askAboutPlan(ctx, f)
	f.Issues = issuesOf(doc, plan.Facts{Draft: draft.Bytes, BaseBranch: t.BaseBranch, BaseCommit: t.BaseCommit})
	forecast := plan.Forecast(setupFacts(f, planprobe.PathOf(s.opt.Root, planFile), snap.Preflight.Stored.Result))
	for _, r := range forecast.Refusals {
		f.Setup = append(f.Setup, r.Message)
	}
	f.SetupUnknown = forecast.Unknown
	if err := gate.CheckArgv(f.Argv); err != nil {
		f.Setup = append(f.Setup, err.Error())
	}
	f.Waivers, _ = s.store.Waivers() // gatesNow names those that are none
	return f
}

func boundFile(f planprobe.File) gate.Bound {
	return gate.Bound{Path: f.Path, SHA256: f.Origin.SHA256, Size: f.Origin.Size, Status: f.Origin.Status, Why: f.Origin.Why}
}

func (s *Session) askAboutPlan(ctx context.Context, f *gate.Facts) {
	if f.Repo.State != repo.Worktree {
		return
	}
	if ign, err := s.git.Ignored(ctx, s.opt.Root, f.Plan.Path); err == nil {
		v := len(ign) > 0
		f.PlanIgnored = &v
	}
	if tr, err := s.git.Tracked(ctx, s.opt.Root, f.Plan.Path); err == nil {
		v := len(tr) > 0
		f.PlanTracked = &v
	}
}

// judgesAtBase hashes the family's judge files as they are at the base commit.
// The answer is kept: a commit does not change.
func (s *Session) judgesAtBase(ctx context.Context, fam *family.Family, base *repo.Base) ([]gate.Bound, string) {
	if fam == nil {
		return nil, "no kernel family is known for this task"
	}
	if base == nil || base.Commit == "" {
		return nil, "the base commit is not known"
	}
	var paths []string
	for _, j := range fam.Judges {
		if j.Root == "" || j.Root == "worktree" {
			paths = append(paths, j.Path)
		}
	}
	if len(paths) == 0 {
		return nil, "family " + fam.Name + " names no judge file in this worktree"
	}
	key := base.Commit + "\x00" + strings.Join(paths, "\x00")
	if s.gates.judgeKey == key {
		return s.gates.judges, ""
	}
	blobs, err := s.git.BlobsAt(ctx, s.opt.Root, base.Commit, paths...)
	if err != nil {
		return nil, oneLine(err)
	}
	var out []gate.Bound
	for _, b := range blobs {
		g := gate.Bound{Path: b.Path, SHA256: b.SHA256, Size: int64(len(b.Bytes)), Status: fact.OK}
		if b.Missing {
			// A file the base does not have judges nothing there; its absence is
			// bound as such.
			g.Why = "not in the base"
		}
		out = append(out, g)
	}
	s.gates.judgeKey, s.gates.judges = key, out
	return out, ""
}

// gatesNow compares seals and facts, and the running loop with its seal.
func (s *Session) gatesNow(ctx context.Context, f *gate.Facts) session.Gates {
	seals, bad := s.store.Seals()
	_, badWaivers := s.store.Waivers()
	g := session.Gates{Known: true, Facts: f, Bad: append(bad, badWaivers...)}
	// A seal that the journal does not know was not made by a gate of this
	// program, or the journal was cut: it counts for nothing.
	if c, _, err := s.store.Journal(); err == nil {
		for _, x := range gate.Unrecorded(seals, c.Records) {
			g.Bad = append(g.Bad, fmt.Sprintf("seal %s of %s is not in the journal: it does not count", x.ID[:min(12, len(x.ID))], x.Gate))
			seals = slices.DeleteFunc(seals, func(y gate.Seal) bool { return y.ID == x.ID && y.Gate == x.Gate })
		}
	}
	for i := range seals {
		switch {
		case seals[i].Gate == gate.G1 && g.G1 == nil:
			g.G1 = &seals[i]
		case seals[i].Gate == gate.G2 && g.G2 == nil:
			g.G2 = &seals[i]
		}
	}
	if g.G1 != nil {
		g.G1Broken = s.brokenSeal(ctx, g.G1, f)
	}
	f.G1, f.G1Broken = g.G1, g.G1Broken
	l := s.Snapshot().Loops.Current()
	if s.opt.Mode != session.Live || l == nil || !l.Phase.Active() {
		return g
	}
	seal := g.G2
	if seal != nil && !l.StartedAt.IsZero() && l.StartedAt.Before(seal.At.Add(-startSlack)) {
		seal = nil // the loop is older than the seal
	}
	g.Unsealed = seal == nil
	if seal != nil {
		g.Start = gate.CompareStart(seal, l, loopPlanSHA(l))
	}
	return g
}

// brokenSeal says why a seal of gate 1 does not hold. Once it was seen broken
// it stays void, also when the bytes come back: the journal says so.
func (s *Session) brokenSeal(ctx context.Context, seal *gate.Seal, f *gate.Facts) []gate.Change {
	changes := seal.Changes(f)
	if len(changes) == 0 {
		if why := s.voidedBefore(seal.ID); why != "" {
			return []gate.Change{{What: "bound bytes", Was: "sealed", Is: why}}
		}
		return nil
	}
	if s.opt.Mode == session.Live && s.voidedBefore(seal.ID) == "" {
		why := changes[0].String()
		s.gates.voided[seal.ID] = why
		s.note(ctx, journal.Record{Kind: "gate voided", Gate: string(gate.G1), Seal: seal.ID, Text: why})
	}
	return changes
}

func (s *Session) voidedBefore(id string) string {
	if why := s.gates.voided[id]; why != "" {
		return why
	}
	c, _, err := s.store.Journal()
	if err != nil {
		return ""
	}
	for _, r := range c.Records {
		if r.Kind == "gate voided" && r.Seal == id {
			s.gates.voided[id] = "void since " + r.At.Format("2006-01-02 15:04") + " (" + text.Line(r.Text) + ")"
			return s.gates.voided[id]
		}
	}
	return ""
}

// loopPlanSHA is the hash of the plan copy in the loop's folder.
func loopPlanSHA(l *loop.Loop) string {
	_, o, err := readfile.Hashed(filepath.Join(l.Dir, "plan.md"), 4<<20)
	if err != nil {
		return ""
	}
	return o.SHA256
}

func (s *Session) approved(seal *gate.Seal) *session.ApprovedPlan {
	if seal == nil {
		return nil
	}
	a := &session.ApprovedPlan{SealID: seal.ID, Who: text.Line(seal.Who), At: seal.At}
	b, err := s.store.ApprovedPlan(*seal)
	if err != nil {
		a.Why = oneLine(err)
		return a
	}
	a.Text = text.Clean(string(b))
	return a
}

// note appends a record to the journal; a failure is an event, never silence.
func (s *Session) note(ctx context.Context, r journal.Record) {
	r.At, r.Who = s.opt.Now(), who()
	if err := s.store.Append(context.WithoutCancel(ctx), r); err != nil {
		s.events.put(session.Event{Kind: session.ProbeLost, Bad: true, Text: oneLine(err)})
	}
}

func who() string {
	name := "uid " + fmt.Sprint(os.Getuid())
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return text.Line(name + "@" + host)
}

// presence says who might be at the keyboard now.
func (s *Session) presence(ctx context.Context) gate.Presence {
	p := gate.Presence{StdinTTY: s.opt.TTY, StdoutTTY: s.opt.TTY, Who: who()}
	for _, name := range gate.AgentVariables() {
		if os.Getenv(name) != "" {
			p.AgentEnv = append(p.AgentEnv, name)
		}
	}
	if srv, err := tmux.Inside(os.Getenv); err == nil {
		p.InTmux = true
		p.LastActivity, _ = srv.LastActivity(ctx)
	}
	return p
}

// openGate reads everything anew and hands out the facts, if a person is there.
func (s *Session) openGate(ctx context.Context, id gate.ID) (session.Reply, error) {
	if s.opt.Mode != session.Live {
		return session.Reply{}, errReadOnly
	}
	if why := s.presence(ctx).Refuse(s.opt.Now()); why != "" {
		s.note(ctx, journal.Record{Kind: "gate refused", Gate: string(id), Text: why})
		return session.Reply{}, fmt.Errorf("%s stays shut: %s", id, why)
	}
	f := s.freshFacts(ctx)
	s.note(ctx, journal.Record{Kind: "gate opened", Gate: string(id), Data: map[string]string{"plan": f.Plan.SHA256, "base": f.BaseCommit, "head": f.Repo.Head}})
	return session.Reply{Gate: f}, nil
}

func (s *Session) freshFacts(ctx context.Context) *gate.Facts {
	s.readLoops(ctx)
	s.readRepo(ctx)
	s.readReady(ctx)
	s.readPlan(ctx)
	return s.Snapshot().Gates.FactsWith(nil, "")
}

// sealGate commits an open gate.
func (s *Session) sealGate(ctx context.Context, a session.SealGate) (session.Reply, error) {
	fresh := s.freshFacts(ctx)
	fresh.Seen, fresh.SeenOf = a.Seen, a.SeenOf
	seal, err := a.Session.Commit(s.opt.Now(), fresh, s.presence(ctx))
	if err != nil {
		s.noteRefusals(ctx, a.Session.TakeRefusals())
		return session.Reply{}, err
	}
	var planBytes []byte
	if seal.Gate == gate.G1 {
		b, o, err := readfile.Hashed(s.path(filepath.FromSlash(seal.Plan.Path)), 4<<20)
		if err != nil || o.SHA256 != seal.Plan.SHA256 {
			return session.Reply{}, fmt.Errorf("%w: the plan changed while it was sealed", gate.ErrRefused)
		}
		planBytes = b
	}
	s.gates.mu.Lock() // nobody reads a seal before its record
	err = s.store.WriteSeal(seal, planBytes)
	if err != nil {
		s.gates.mu.Unlock()
		return session.Reply{}, err
	}
	s.note(ctx, journal.Record{Kind: gate.Sealed, Gate: string(seal.Gate), Seal: seal.ID, Text: "typed: " + seal.Phrase(), Data: map[string]string{"plan": seal.Plan.SHA256, "base": seal.BaseCommit}})
	s.gates.mu.Unlock()
	s.readPlan(ctx)
	s.jobs.state.poke()
	return session.Reply{Text: string(seal.Gate) + " sealed: " + seal.ID[:12], ID: seal.ID, Seal: &seal}, nil
}

func (s *Session) noteRefusals(ctx context.Context, list []gate.Refusal) {
	for _, r := range list {
		s.note(ctx, journal.Record{Kind: "gate refused", Gate: string(r.Gate), Text: r.Why})
	}
}
