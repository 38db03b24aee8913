package ui

import (
	"strings"

	"kdapilot/engine/session"
	"kdapilot/engine/text"
	"kdapilot/ui/view"
	"kdapilot/ui/view/runs"
)

// flyprofCommand is `flyprof ...` in the palette: doctor, list, run [KERNEL],
// diff [BASE CAND], wiki [CLASS]. What is left out is asked for; the exact
// command is shown before anything starts.
func flyprofCommand(e *view.Env, line string) view.Ask {
	if !e.Operate {
		return view.Ask{Say: "flyprof needs operate mode: press o first"}
	}
	argv, ok := session.SplitCommand(line)
	if !ok || len(argv) == 0 {
		return view.Ask{Say: "flyprof: doctor, list, run [KERNEL], diff [BASE CAND] or wiki [CLASS]"}
	}
	a := session.StartRun{Preset: "flyprof-" + argv[0], GPU: -1}
	var into []*string
	switch argv[0] {
	case "doctor", "list":
	case "run":
		into = []*string{&a.Kernel}
	case "diff":
		into = []*string{&a.Before, &a.After}
	case "wiki":
		into = []*string{&a.Class}
	default:
		return view.Ask{Say: "flyprof: no " + text.Line(argv[0]) + " here: doctor, list, run, diff or wiki"}
	}
	if len(argv)-1 > len(into) {
		return view.Ask{Say: "flyprof " + argv[0] + " takes nothing more: " + text.Line(strings.Join(argv[1+len(into):], " "))}
	}
	for i, v := range argv[1:] {
		*into[i] = v
	}
	for _, side := range []*string{&a.Before, &a.After} {
		if *side == "" {
			continue
		}
		b, err := e.Snap.FindBundle(*side)
		if err != nil {
			return view.Ask{Say: "nothing started: " + err.Error()}
		}
		*side = b.Path
	}
	return runs.Start(e, a)
}
