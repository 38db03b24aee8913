package term

// Class is how much fits on the screen.
type Class int

// Classes, from one status line to four panes.
const (
	Tiny      Class = iota // below 20x6: a single status line
	Narrow                 // up to 40 columns: one pane without side borders
	OnePane                // 41 to 79: one pane and a tab strip
	TwoPanes               // 80 to 119
	FourPanes              // 120 and more
)

// Limits of the classes, in cells.
const (
	TinyWidth  = 20
	TinyHeight = 6
	NarrowMax  = 40
	TwoMin     = 80
	FourMin    = 120
)

// ClassOf returns the class of a screen of w by h cells.
func ClassOf(w, h int) Class {
	switch {
	case w < TinyWidth || h < TinyHeight:
		return Tiny
	case w <= NarrowMax:
		return Narrow
	case w < TwoMin:
		return OnePane
	case w < FourMin:
		return TwoPanes
	default:
		return FourPanes
	}
}

// Panes returns how many panes stand beside or below each other.
func (c Class) Panes() int {
	switch c {
	case FourPanes:
		return 4
	case TwoPanes:
		return 2
	default:
		return 1
	}
}

// String names the class.
func (c Class) String() string {
	switch c {
	case Tiny:
		return "tiny"
	case Narrow:
		return "narrow"
	case OnePane:
		return "one pane"
	case TwoPanes:
		return "two panes"
	default:
		return "four panes"
	}
}
