package ui

import (
	"os"
	"strings"
	"testing"

	"kdapilot/engine/family"
	"kdapilot/engine/session"
	"kdapilot/ui/view"
	"kdapilot/ui/view/viewtest"
)

func TestPaletteFlyprof(t *testing.T) {
	e := viewtest.Env(viewtest.Sample())
	e.Operate = true
	toml, err := os.ReadFile("../templates/families/flashattn/family.toml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := family.Parse("flashattn", toml)
	if err != nil {
		t.Fatal(err)
	}
	e.Snap.Family = &f
	if len(e.Snap.Bundles) < 2 {
		t.Fatal("the sample has no two bundles")
	}
	first := func(line string) view.Ask { return flyprofCommand(e, line) }
	confirm := func(line string) session.StartRun {
		t.Helper()
		ask := first(line)
		if ask.Confirm == nil || ask.Confirm.Word != "run" || len(ask.Do) > 0 {
			t.Fatalf("%s: %+v", line, ask)
		}
		return ask.Confirm.Do[0].(session.StartRun)
	}
	if a := confirm("diff 20260820-090000 20260821-113000"); a.Before != e.Snap.Bundles[1].Path || a.After != e.Snap.Bundles[0].Path {
		t.Errorf("%+v", a)
	}
	if a := confirm("wiki barrier"); a.Class != "barrier" || a.Preset != "flyprof-wiki" {
		t.Errorf("%+v", a)
	}
	if ask := first("run moe_gemm"); ask.Prompt == nil || !strings.Contains(ask.Prompt.Title, "question") {
		t.Errorf("a profile starts without its question: %+v", ask)
	}
	if ask := first("run"); ask.Prompt == nil || !strings.Contains(ask.Prompt.Title, "kernel") {
		t.Errorf("a profile starts without its kernel: %+v", ask)
	}
	for line, say := range map[string]string{"diff nowhere x": "no bundle", "diff flyprof x": "not one", "dance": "no dance", "list x": "takes nothing more", "": "doctor", "wiki 'a": "doctor"} {
		if ask := first(line); ask.Confirm != nil || !strings.Contains(ask.Say, say) {
			t.Errorf("%q: %+v", line, ask)
		}
	}
	e.Operate = false
	if ask := first("doctor"); ask.Confirm != nil || !strings.Contains(ask.Say, "operate") {
		t.Errorf("%+v", ask)
	}
}
