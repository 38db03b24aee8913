package term

import (
	"strconv"
	"strings"
	"unicode"
)

// Route is how text can reach the user's clipboard.
type Route int

// Routes.
const (
	NoRoute      Route = iota
	TmuxBuffer         // `tmux load-buffer -w -`: tmux hands it to the outer terminal
	TmuxInternal       // `tmux load-buffer -`: reaches tmux's own paste buffer only
	OSC52              // the terminal's own sequence; it does not confirm
)

// String names the route as the status line does.
func (r Route) String() string {
	switch r {
	case TmuxBuffer:
		return "tmux load-buffer -w"
	case TmuxInternal:
		return "tmux buffer only"
	case OSC52:
		return "OSC 52"
	default:
		return "none"
	}
}

// maxOSC52 is how many bytes of text are sent by OSC 52. Terminals cut or drop
// longer ones; 74994 bytes become the 100 kB of base64 that xterm and others
// take.
const maxOSC52 = 74_994

// Clipboard is a decision: the route, the command for the tmux routes (text on
// its standard input), and the reason.
type Clipboard struct {
	Route Route
	Argv  []string
	Why   string
}

// Clipboard decides how n bytes can be copied. It never decides to wrap OSC 52
// for tmux: by default tmux drops that, and it has broken terminals.
func (t Term) Clipboard(n int) Clipboard {
	if t.Tmux {
		if major, minor, known := version(t.TmuxVersion); known && (major < 3 || major == 3 && minor < 2) {
			return Clipboard{Route: TmuxInternal, Argv: []string{"tmux", "load-buffer", "-"}, Why: "tmux " + t.TmuxVersion + " can not reach the outer terminal (needs 3.2)"}
		}
		if t.TmuxSetClip == "off" {
			return Clipboard{Route: TmuxInternal, Argv: []string{"tmux", "load-buffer", "-"}, Why: "the tmux option set-clipboard is off"}
		}
		return Clipboard{Route: TmuxBuffer, Argv: []string{"tmux", "load-buffer", "-w", "-"}, Why: "inside tmux"}
	}
	switch {
	case t.Dumb:
		return Clipboard{Why: "this terminal takes no sequences"}
	case t.Screen:
		return Clipboard{Why: "GNU screen drops OSC 52"}
	case t.Console:
		return Clipboard{Why: "the Linux console has no clipboard"}
	case t.Program == "Apple_Terminal":
		return Clipboard{Why: "Apple Terminal does not take OSC 52"}
	case n > maxOSC52:
		return Clipboard{Why: strconv.Itoa(n) + " bytes are more than OSC 52 carries (" + strconv.Itoa(maxOSC52) + ")"}
	default:
		return Clipboard{Route: OSC52, Why: "not inside tmux"}
	}
}

// Said is the status line after the attempt. err is the error of the tmux
// command, or of writing the sequence. It says "copied" only when tmux accepted
// the text; OSC 52 is sent, not confirmed.
func (c Clipboard) Said(err error) string {
	switch {
	case c.Route == NoRoute:
		return "not copied: " + c.Why + "; w writes it to a file, z shows it for selecting"
	case err != nil:
		return "not copied: " + err.Error() + "; w writes it to a file, z shows it for selecting"
	case c.Route == TmuxBuffer:
		return "copied through tmux (load-buffer -w)"
	case c.Route == TmuxInternal:
		return "in the tmux buffer only: " + c.Why
	default:
		return "sent to the terminal's clipboard (OSC 52, not confirmed)"
	}
}

// version reads "3.3a", "next-3.4", "3.2-rc".
func version(s string) (major, minor int, ok bool) {
	s = strings.TrimLeftFunc(s, func(r rune) bool { return !unicode.IsDigit(r) })
	a, rest, dot := strings.Cut(s, ".")
	major, err := strconv.Atoi(a)
	if err != nil || !dot {
		return 0, 0, false
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	minor, err = strconv.Atoi(rest[:end])
	return major, minor, err == nil
}

// Notify is how the user may be called.
type Notify struct {
	Bell          bool // BEL: tmux flags the window
	Title         bool // window title
	ProgramStatus bool // OSC 7501; ignored where it is unknown
	OSC9          bool // desktop notification
	QuerySync     bool // ask for mode 2026 at the start; harmless without an answer
}

// Notify decides what may be sent. desktop is the user's wish for OSC 9; tmux
// drops it, so it is only sent outside.
func (t Term) Notify(desktop bool) Notify {
	if t.Dumb {
		return Notify{}
	}
	return Notify{
		Bell:          true,
		Title:         !t.Console,
		ProgramStatus: !t.Console && !t.Screen,
		OSC9:          desktop && !t.Tmux && !t.Screen && !t.Console,
		QuerySync:     !t.Screen && !t.Console,
	}
}
