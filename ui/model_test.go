package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"kdapilot/engine/gate"
	"kdapilot/engine/session"
	"kdapilot/ui/draw"
	"kdapilot/ui/keys"
	"kdapilot/ui/style"
	"kdapilot/ui/view/viewtest"
)

// fake is a session that shows a snapshot and remembers what was asked.
type fake struct {
	snap  *session.Snapshot
	did   []session.Action
	reply session.Reply
	err   error
}

func (f *fake) Snapshot() *session.Snapshot  { return f.snap }
func (f *fake) Changed() <-chan struct{}     { return nil }
func (f *fake) Events() <-chan session.Event { return nil }
func (f *fake) Do(_ context.Context, a session.Action) (session.Reply, error) {
	f.did = append(f.did, a)
	return f.reply, f.err
}

// rig is a model with a hand on its clock.
type rig struct {
	*Model
	fake *fake
	at   time.Time
}

func newRig(t *testing.T, w, h int) *rig {
	t.Helper()
	r := &rig{fake: &fake{snap: viewtest.Sample()}, at: viewtest.Now}
	r.Model = New(Config{Session: r.fake, Look: style.NewLook(style.Mono(), style.Unicode()), Keys: keys.Standard(), Now: func() time.Time { return r.at }})
	r.send(tea.WindowSizeMsg{Width: w, Height: h})
	return r
}

// send updates the model and runs what it asks for, except timers.
func (r *rig) send(msg tea.Msg) {
	_, cmd := r.Update(msg)
	r.run(cmd)
}

func (r *rig) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	done := make(chan tea.Msg, 1)
	go func() { done <- cmd() }()
	select {
	case msg := <-done:
		switch msg := msg.(type) {
		case tea.BatchMsg:
			for _, c := range msg {
				r.run(c)
			}
		case replied:
			r.send(msg)
		}
	case <-time.After(20 * time.Millisecond): // a timer
	}
}

// press sends keys as the terminal library names them, a second apart.
func (r *rig) press(names ...string) {
	for _, n := range names {
		r.at = r.at.Add(time.Second)
		r.send(keyNamed(n))
	}
}

func keyNamed(n string) tea.KeyPressMsg {
	switch n {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "tab":
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case "backspace":
		return tea.KeyPressMsg{Code: tea.KeyBackspace}
	case "left":
		return tea.KeyPressMsg{Code: tea.KeyLeft}
	case "home":
		return tea.KeyPressMsg{Code: tea.KeyHome}
	case "ctrl+c":
		return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	default:
		return tea.KeyPressMsg{Code: []rune(n)[0], Text: n}
	}
}

func (r *rig) typeText(s string) {
	for _, c := range s {
		r.press(string(c))
	}
}

func (r *rig) screenText() string { return draw.Plain(strings.Split(r.frame(), "\n")) }

func (r *rig) shows(t *testing.T, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(r.screenText(), w) {
			t.Errorf("no %q on screen:\n%s", w, r.screenText())
		}
	}
}

func TestWholeScreens(t *testing.T) {
	for _, size := range [][2]int{{40, 30}, {60, 24}, {80, 24}, {120, 40}, {200, 60}, {19, 5}} {
		r := newRig(t, size[0], size[1])
		viewtest.Frame(t, "screen-overview", "plain", strings.Split(r.frame(), "\n"), size[0], size[1])
		r.press("?")
		viewtest.Frame(t, "screen-help", "plain", strings.Split(r.frame(), "\n"), size[0], size[1])
	}
}

func TestColourFrame(t *testing.T) {
	for name, look := range map[string]style.Look{
		"default": style.NewLook(style.Default(), style.Unicode()), "ascii": style.NewLook(style.Mono(), style.ASCII()),
	} {
		r := newRig(t, 80, 24)
		r.cfg.Look = look
		r.rev++
		viewtest.Frame(t, "screen-overview", name, strings.Split(r.frame(), "\n"), 80, 24)
	}
}

func TestTabsAndBack(t *testing.T) {
	r := newRig(t, 120, 40)
	for i, tb := range r.tabs {
		r.press(tb.key)
		if r.active != i {
			t.Errorf("key %s leads to tab %d", tb.key, r.active)
		}
		r.shows(t, "["+tb.key+" "+tb.title)
	}
	r.press("1", "esc")
	if r.active != len(r.tabs)-1 {
		t.Errorf("esc leads to tab %d", r.active)
	}
}

func TestReadOnlyStart(t *testing.T) {
	r := newRig(t, 120, 40)
	r.press("S")
	r.shows(t, "needs operate mode")
	if len(r.fake.did) != 0 || r.overlay != nil {
		t.Error("a gate key did something in read-only mode")
	}
	r.press("o")
	r.shows(t, "OPERATE")
	r.press("o", "S")
	r.shows(t, "needs operate mode")
	r.cfg.ReadOnly = true
	r.press("o")
	if r.operate {
		t.Error("a copied folder can be operated")
	}
}

func TestPaletteFindsActions(t *testing.T) {
	r := newRig(t, 120, 40)
	r.press(":")
	r.typeText("Stalls")
	r.press("enter")
	if r.tabs[r.active].id != keys.GoStalls {
		t.Errorf("palette led to %s", r.tabs[r.active].id)
	}
	r.press(":", "esc")
	if r.overlay != nil {
		t.Error("esc left the palette open")
	}
}

// The line of a prompt is edited where the cursor stands, and a key of a program
// is never started by it.
func TestPromptLineIsEdited(t *testing.T) {
	r := newRig(t, 80, 24)
	r.press(":")
	r.typeText("lop")
	r.press("left", "o")
	p := r.overlay.(*prompt)
	if got := p.in.Value(); got != "loop" {
		t.Errorf("line %q, want loop", got)
	}
	r.press("home")
	r.send(tea.PasteMsg{Content: "start \x1b[2J\nsecond line"})
	if got := p.in.Value(); got != "start loop" {
		t.Errorf("after a paste %q, want the first line of it, clean", got)
	}
}

func TestTypedCommandAsksFirst(t *testing.T) {
	r := newRig(t, 120, 40)
	r.press(":")
	r.typeText("run python3 'a b'.py")
	r.press("enter")
	r.shows(t, "needs operate mode")
	r.press("o", ":")
	r.typeText("run python3 'a b'.py")
	r.press("enter")
	r.shows(t, "run a command", "python3", "'a b.py'")
	r.press("enter")
	if len(r.fake.did) != 0 {
		t.Fatal("enter alone ran it")
	}
	r.typeText("run")
	r.press("enter")
	if len(r.fake.did) != 1 {
		t.Fatalf("did %v", r.fake.did)
	}
	got, ok := r.fake.did[0].(session.StartRun)
	if !ok || len(got.Argv) != 2 || got.Argv[1] != "a b.py" {
		t.Errorf("did %+v", r.fake.did[0])
	}
}

func TestConfirmIgnoresKeysInFlight(t *testing.T) {
	r := newRig(t, 120, 40)
	r.press("o", ":")
	r.typeText("run ls")
	r.press("enter")
	for _, c := range "run" {
		r.at = r.at.Add(20 * time.Millisecond)
		r.send(keyNamed(string(c)))
	}
	r.at = r.at.Add(20 * time.Millisecond)
	r.send(keyNamed("enter"))
	if len(r.fake.did) != 0 {
		t.Error("keys that were in flight answered the question")
	}
}

func TestGateOverlay(t *testing.T) {
	r := newRig(t, 120, 40)
	r.fake.reply = session.Reply{Gate: &gate.Facts{Now: viewtest.Now}}
	r.press("o", "S")
	if _, ok := r.overlay.(*gateOverlay); !ok {
		t.Fatalf("overlay %T", r.overlay)
	}
	r.shows(t, "gate 2: loop start", "shut:")
	r.fake.did = nil
	r.typeText("rocm")
	r.press("enter")
	r.send(tea.PasteMsg{Content: "rocm-kda-base/fa"})
	for _, a := range r.fake.did {
		if _, ok := a.(session.SealGate); ok {
			t.Fatal("a shut gate was sealed")
		}
	}
	if note, ok := r.fake.did[len(r.fake.did)-1].(session.NoteRefusals); !ok || note.List[0].Why != "pasted text" {
		t.Errorf("the paste was not noted: %v", r.fake.did)
	}
	r.press("q", "1", "esc")
	if r.overlay != nil || r.active != 0 {
		t.Error("keys went through the gate to the screen below")
	}
	r.shows(t, "nothing approved")
}

func TestMessagesGiveTheFooterBack(t *testing.T) {
	r := newRig(t, 120, 40)
	r.send(Happened{Event: session.Event{Text: "run smoke ended"}})
	r.shows(t, "run smoke ended")
	first := r.say
	r.send(Happened{Event: session.Event{Text: "round 2 reviewed"}})
	r.send(sayOver{first})
	r.shows(t, "round 2 reviewed")
	r.send(sayOver{r.say})
	r.shows(t, "? help")
}

func TestErrorsAreShown(t *testing.T) {
	r := newRig(t, 120, 40)
	r.fake.err = errors.New("no way to a clipboard here")
	r.press("Y")
	r.shows(t, "! no way to a clipboard here")
}

func TestFrameIsCached(t *testing.T) {
	r := newRig(t, 120, 40)
	a := r.frame()
	rev := r.cached
	if b := r.frame(); b != a || r.cached.key != rev.key {
		t.Error("a frame without a change was drawn again")
	}
	r.at = r.at.Add(30 * time.Second)
	r.send(tick{})
	if r.cached.key.now != viewtest.Now.Truncate(time.Minute) {
		t.Error("half a minute moved the clock on screen")
	}
}

// TestAnySize holds every frame to the terminal's size, overlays included.
func TestAnySize(t *testing.T) {
	for w := 1; w <= 210; w += 7 {
		for h := 1; h <= 66; h += 9 {
			r := newRig(t, w, h)
			for _, k := range []string{"", "?", ":", "/"} {
				if k != "" {
					r.press(k)
				}
				lines := strings.Split(r.frame(), "\n")
				viewtest.Exact(t, lines, w, h)
				if r.overlay != nil {
					r.press("esc")
				}
			}
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, size := range [][2]int{{120, 40}, {200, 60}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			f := &fake{snap: viewtest.Sample()}
			m := New(Config{Session: f, Look: style.NewLook(style.Default(), style.Unicode()), Keys: keys.Standard(), Now: func() time.Time { return viewtest.Now }})
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for b.Loop() {
				m.rev++
				m.frame()
			}
		})
	}
}

// Every screen that names the key for a run leads to the list of presets.
func TestRunIsAskedForFromAnyScreen(t *testing.T) {
	for _, from := range []string{"1", "4", "5", "6"} {
		r := newRig(t, 120, 40)
		r.press("o", from, "r")
		if _, ok := r.overlay.(*prompt); !ok && !strings.Contains(r.say.text, "family") {
			t.Errorf("from tab %s: overlay %T, message %q", from, r.overlay, r.say.text)
		}
	}
}

func TestARunThatWasStartedIsGoneTo(t *testing.T) {
	r := newRig(t, 120, 40)
	id := string(r.fake.snap.Runs[2].ID)
	r.fake.reply = session.Reply{Text: "run started", ID: id}
	r.run(r.do(session.StartRun{Preset: "smoke"}))
	if got := r.screen().Selected(r.env()); r.tabs[r.active].id != keys.GoRuns || !strings.Contains(got, id) {
		t.Errorf("tab %s, selected %q, want the run %s", r.tabs[r.active].id, got, id)
	}
	r.fake.err = errors.New("GPU 0 is taken")
	r.press("1")
	r.run(r.do(session.StartRun{Preset: "smoke"}))
	if r.tabs[r.active].id != keys.GoOverview {
		t.Errorf("a run that was refused leads to %s", r.tabs[r.active].id)
	}
}
