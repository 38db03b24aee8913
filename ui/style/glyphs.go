package style

// Frame holds the lines of a box.
type Frame struct {
	TopLeft, TopRight, BottomLeft, BottomRight string
	H, V                                       string
}

// Glyphs is a set of one-cell marks. Beyond ASCII the unicode set uses box
// drawing, block elements, and two marks (check, cross) whose East Asian width
// is neutral; arrows, bullets, dots and the ellipsis are "ambiguous" and may
// take two cells on some terminals, so they are ASCII in both sets.
type Glyphs struct {
	Name  string
	ASCII bool

	Frame Frame // an ordinary pane
	Focus Frame // the focused pane: heavier, so focus shows without colour

	Rule, RuleHeavy string

	Check, Cross string // passed, failed
	Up, Down     string // more, less; the caller adds the signed number
	On, Off      string // filled and empty mark
	Pointer      string // selected row
	Bullet       string
	Separator    string // between items on one line

	Eighths [9]string // horizontal bar, index = eighths filled; [0] is a blank
	Levels  [9]string // sparkline, index = eighths of the height; [0] is a blank
	Sliver  string    // a bar too short to fill a cell
	Shade   string    // part of a bar that went away
	Grown   string    // part of a bar that was added
	Track   string    // scrollbar background
	Thumb   string    // scrollbar handle
	Median  string    // middle mark of a dot plot
}

// Cut marks where text was shortened. It is the same in both sets.
const Cut = "~"

// Unicode is box drawing and block elements.
func Unicode() Glyphs {
	return Glyphs{
		Name:  "unicode",
		Frame: Frame{TopLeft: "┌", TopRight: "┐", BottomLeft: "└", BottomRight: "┘", H: "─", V: "│"},
		Focus: Frame{TopLeft: "┏", TopRight: "┓", BottomLeft: "┗", BottomRight: "┛", H: "━", V: "┃"},
		Rule:  "─", RuleHeavy: "━",
		Check: "✓", Cross: "✗",
		Up: "^", Down: "v", On: "*", Off: "o",
		Pointer: ">", Bullet: "-", Separator: "│",
		Eighths: [9]string{" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"},
		Levels:  [9]string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
		Sliver:  "▏", Shade: "░", Grown: "▓", Track: "│", Thumb: "█", Median: "┃",
	}
}

// ASCII is for terminals, fonts and logs without line drawing.
func ASCII() Glyphs {
	return Glyphs{
		Name: "ascii", ASCII: true,
		Frame: Frame{TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+", H: "-", V: "|"},
		Focus: Frame{TopLeft: "#", TopRight: "#", BottomLeft: "#", BottomRight: "#", H: "=", V: "#"},
		Rule:  "-", RuleHeavy: "=",
		Check: "+", Cross: "x",
		Up: "^", Down: "v", On: "*", Off: "o",
		Pointer: ">", Bullet: "-", Separator: "|",
		Eighths: [9]string{" ", " ", " ", " ", "#", "#", "#", "#", "#"},
		Levels:  [9]string{" ", "_", "_", ".", "-", "=", "+", "*", "#"},
		Sliver:  ":", Shade: ".", Grown: "+", Track: ".", Thumb: "#", Median: "|",
	}
}
