package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"kdapilot/engine/session"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
	"kdapilot/ui/view"
)

// Config is what the model is started with.
type Config struct {
	Session session.Session
	Look    style.Look
	Keys    keys.Table
	// Now is the clock.
	Now func() time.Time
	// Start is the screen shown first; empty means the overview.
	Start keys.ID
	// ReadOnly takes operate mode away for good (review).
	ReadOnly bool
	// Busy, if not nil, is called on every message: frames should come fast for
	// a moment.
	Busy func()
	// Drawn, if not nil, is called once, when there is a first frame.
	Drawn func()
	// OSC52 says that the clipboard is reached by an escape sequence of ours;
	// otherwise copying is the session's business (tmux).
	OSC52 bool
}

// Changed tells the model that the session holds a newer snapshot.
type Changed struct{}

// Happened hands a must-deliver event to the model.
type Happened struct{ Event session.Event }

// Quit ends the program from outside, for example on SIGHUP.
type Quit struct{}

// Model is the one tea.Model.
type Model struct {
	cfg    Config
	snap   *session.Snapshot
	tabs   []tab
	active int
	back   []int // tabs to go back to, newest last

	w, h    int
	now     time.Time // minute steps
	operate bool
	zoom    bool

	overlay overlay // nil: none
	say     message
	reqID   int
	waiting map[int]session.Action // actions under way, by request id

	// rev grows with every change of ui state; cached is valid for one key.
	rev    uint64
	cached frame
}

type frame struct {
	key  frameKey
	body string
}

type frameKey struct {
	version, rev uint64
	w, h         int
	now          time.Time
}

type message struct {
	text string
	bad  bool
}

// New returns a model that shows cfg.Session's snapshot.
func New(cfg Config) *Model {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	m := &Model{cfg: cfg, snap: cfg.Session.Snapshot(), tabs: standardTabs(), waiting: map[int]session.Action{}}
	m.now = cfg.Now().Truncate(time.Minute)
	for i, t := range m.tabs {
		if t.id == cfg.Start {
			m.active = i
		}
	}
	return m
}

// Init asks for the first minute step. Nothing else is asked of the terminal.
func (m *Model) Init() tea.Cmd { return m.nextTick() }

type tick struct{}

// nextTick fires when an age on screen can change: at the next full minute, or
// at the next second while a run's clock is on screen.
func (m *Model) nextTick() tea.Cmd {
	now := m.cfg.Now()
	step := time.Minute
	if m.running() {
		step = time.Second
	}
	return tea.Tick(now.Truncate(step).Add(step).Sub(now), func(time.Time) tea.Msg { return tick{} })
}

// running reports whether a clock that counts seconds is on screen.
func (m *Model) running() bool {
	for i := range m.snap.Runs {
		if st := m.snap.Runs[i].State; st == "running" || st == "queued" {
			return true
		}
	}
	return false
}

// replied is the answer to an action.
type replied struct {
	id    int
	reply session.Reply
	err   error
}

// sayFor is how long a message stands in place of the footer's keys.
const sayFor = 12 * time.Second

// sayOver takes a message away if it is still the same one.
type sayOver struct{ say message }

// Update routes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if m.cfg.Busy != nil {
		m.cfg.Busy()
	}
	was := m.say
	model, cmd := m.route(msg)
	if m.say != was && m.say.text != "" {
		gone := sayOver{m.say}
		cmd = tea.Batch(cmd, tea.Tick(sayFor, func(time.Time) tea.Msg { return gone }))
	}
	return model, cmd
}

func (m *Model) route(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case sayOver:
		if m.say == msg.say {
			m.say = message{}
			m.rev++
		}
		return m, nil
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		m.rev++
		return m, nil
	case tick:
		m.stepClock()
		return m, m.nextTick()
	case Changed:
		m.snap = m.cfg.Session.Snapshot()
		return m, m.overlayChanged()
	case Happened:
		m.rev++
		m.say = message{text: msg.Event.Text, bad: msg.Event.Bad}
		return m, nil
	case replied:
		m.rev++
		return m, tea.Batch(m.answered(msg), m.overlayReply(msg))
	case Quit:
		return m, tea.Quit
	case tea.PasteMsg:
		m.rev++
		return m, m.paste(msg.Content)
	case tea.KeyPressMsg:
		m.rev++
		return m, m.key(msg)
	case tea.ResumeMsg:
		m.rev++
		return m, tea.ClearScreen
	}
	if m.overlay != nil {
		m.rev++
		return m, m.overlay.message(m, msg)
	}
	return m, nil
}

func (m *Model) stepClock() {
	step := time.Minute
	if m.running() {
		step = time.Second
	}
	if now := m.cfg.Now().Truncate(step); !now.Equal(m.now) {
		m.now = now
	}
}

// env is what screens may look at now.
func (m *Model) env() *view.Env {
	return &view.Env{Snap: m.snap, Look: m.cfg.Look, Now: m.now, Operate: m.operate, Covered: m.overlay != nil, Keys: m.cfg.Keys}
}

func (m *Model) screen() view.Screen { return m.tabs[m.active].screen }

// do carries out an action on a goroutine of the runtime and brings the reply.
func (m *Model) do(a session.Action) tea.Cmd {
	m.reqID++
	id := m.reqID
	m.waiting[id] = a
	s := m.cfg.Session
	return func() tea.Msg {
		reply, err := s.Do(context.Background(), a)
		return replied{id: id, reply: reply, err: err}
	}
}

// answered shows what came of an action; a run that was started is gone to, for
// its log is what the person waits for.
func (m *Model) answered(r replied) tea.Cmd {
	asked := m.waiting[r.id]
	delete(m.waiting, r.id)
	switch {
	case r.err != nil:
		m.say = message{text: r.err.Error(), bad: true}
	case r.reply.Text != "":
		m.say = message{text: r.reply.Text}
	}
	if _, run := asked.(session.StartRun); run && r.err == nil && m.overlay == nil {
		m.snap = m.cfg.Session.Snapshot() // it lists the run
		return m.goTo(keys.GoRuns, r.reply.ID)
	}
	return nil
}

// ask does what a screen or overlay wants done.
func (m *Model) ask(a view.Ask) tea.Cmd {
	var cmds []tea.Cmd
	for _, act := range a.Do {
		cmds = append(cmds, m.do(act))
	}
	if a.Say != "" {
		m.say = message{text: a.Say}
	}
	if a.Copy != "" {
		cmds = append(cmds, m.copy(a.Copy))
	}
	if a.Go != "" {
		cmds = append(cmds, m.goTo(a.Go, a.Target))
	}
	if a.Act != "" {
		cmds = append(cmds, m.act(a.Act))
	}
	if a.Gate != "" {
		cmds = append(cmds, m.openGate(a.Gate))
	}
	if a.Confirm != nil {
		m.overlay = newConfirm(*a.Confirm, m.cfg.Now())
	}
	if a.Prompt != nil {
		m.overlay = newPrompt(*a.Prompt)
	}
	return tea.Batch(cmds...)
}

// copy puts text on the clipboard by the route that exists here. The text is
// on screen in any case.
func (m *Model) copy(text string) tea.Cmd {
	if m.cfg.OSC52 {
		m.say = message{text: "sent to the terminal's clipboard (OSC 52): " + clip(text)}
		return tea.SetClipboard(text)
	}
	return m.do(session.Copy{Text: text})
}

func clip(s string) string {
	for i, r := range s {
		if r == '\n' || i > 60 {
			return s[:i] + "..."
		}
	}
	return s
}

// goTo switches to the screen of a tab action and shows target there.
func (m *Model) goTo(id keys.ID, target string) tea.Cmd {
	for i, t := range m.tabs {
		if t.id != id {
			continue
		}
		if i != m.active {
			m.back = append(m.back, m.active)
			if len(m.back) > 32 {
				m.back = m.back[1:]
			}
			m.active = i
			m.zoom = false
		}
		return m.ask(t.screen.Show(m.env(), target))
	}
	return nil
}
