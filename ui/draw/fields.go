package draw

import (
	"strconv"
	"strings"

	"kdapilot/ui/style"
)

// KV is one "label value" line of w cells, the label dimmed in labelW cells. A
// value that does not fit is cut at its end.
func KV(label, value string, labelW, w int, look style.Look) string {
	if w <= 0 {
		return ""
	}
	labelW = min(max(labelW, 0), w)
	line := look.Dim.Paint(Fit(label, labelW))
	if labelW >= w-1 {
		return line + blanks(w-labelW)
	}
	return line + " " + Fit(value, w-labelW-1)
}

// Pair is one label and value for KVs.
type Pair struct{ Label, Value string }

// KVs aligns pairs; labels take what the longest needs, at most two fifths of
// w. Values that do not fit are wrapped below themselves.
func KVs(pairs []Pair, w int, look style.Look) []string {
	labelW := 0
	for _, p := range pairs {
		labelW = max(labelW, Width(p.Label))
	}
	labelW = min(labelW, max(w*2/5, 0))
	var out []string
	for _, p := range pairs {
		if labelW >= w-1 {
			out = append(out, KV(p.Label, p.Value, labelW, w, look))
			continue
		}
		label := look.Dim.Paint(Fit(p.Label, labelW))
		for _, v := range Wrap(p.Value, w-labelW-1) {
			out = append(out, label+" "+v)
			label = blanks(labelW)
		}
	}
	return out
}

// Tab is one entry of Tabs.
type Tab struct {
	Key   string // "1"
	Title string
	Mark  string // a short sign after the title, such as "!2"; may be ""
}

// Tabs is a tab strip of w cells. The active tab stands in brackets and
// reversed. When titles do not fit, the others shrink to their key; when even
// that is too much, only the active one is left.
func Tabs(tabs []Tab, active, w int, look style.Look) string {
	if w <= 0 {
		return ""
	}
	for _, long := range []bool{true, false} {
		if line, n := tabLine(tabs, active, long, look); n <= w {
			return line + blanks(w-n)
		}
	}
	if active < 0 || active >= len(tabs) {
		return blanks(w)
	}
	t := tabs[active]
	return look.Select.Paint(Fit("["+tabLabel(t, true)+"]", w))
}

func tabLine(tabs []Tab, active int, long bool, look style.Look) (string, int) {
	var b strings.Builder
	n := 0
	for i, t := range tabs {
		label := flat(tabLabel(t, long || i == active))
		n += Width(label) + 2
		if i == active {
			b.WriteString(look.Select.Paint("[" + label + "]"))
			continue
		}
		b.WriteByte(' ')
		end := strings.IndexByte(label, ' ')
		if end < 0 {
			end = len(label)
		}
		b.WriteString(look.Key.Paint(label[:end]))
		b.WriteString(label[end:])
		b.WriteByte(' ')
	}
	return b.String(), n
}

func tabLabel(t Tab, long bool) string {
	s := t.Key
	if long && t.Title != "" {
		s += " " + t.Title
	}
	if t.Mark != "" {
		if !long {
			return s + t.Mark
		}
		s += " " + t.Mark
	}
	return s
}

// Hint is one key and what it does, for Hints and Help.
type Hint struct{ Keys, Text string }

// Hints is the footer: keys and words in w cells, as many as fit, in order.
func Hints(hints []Hint, w int, look style.Look) string {
	if w <= 0 {
		return ""
	}
	var b strings.Builder
	used := 0
	for _, h := range hints {
		key, text := flat(h.Keys), flat(h.Text)
		n := Width(key) + 1 + Width(text)
		if used > 0 {
			n += 2
		}
		if used+n > w {
			break
		}
		if used > 0 {
			b.WriteString("  ")
		}
		b.WriteString(look.Key.Paint(key))
		b.WriteByte(' ')
		b.WriteString(look.Dim.Paint(text))
		used += n
	}
	return b.String() + blanks(w-used)
}

// Sides puts left and right on one line of w cells. When both do not fit, the
// right one stays whole as long as it can and the left one is cut.
func Sides(left, right string, w int) string {
	if w <= 0 {
		return ""
	}
	n := Width(right)
	if n >= w-1 {
		return Fit(right, w)
	}
	if n == 0 {
		return Fit(left, w)
	}
	return Fit(left, w-n-1) + " " + Fit(right, n)
}

// Position says where a window of shown lines from top (0-based) stands in
// total, such as "12-40/300".
func Position(top, shown, total int) string {
	if total <= 0 {
		return "0/0"
	}
	top = min(max(top, 0), total-1)
	last := min(top+max(shown, 1), total)
	if top+1 == last {
		return strconv.Itoa(last) + "/" + strconv.Itoa(total)
	}
	return strconv.Itoa(top+1) + "-" + strconv.Itoa(last) + "/" + strconv.Itoa(total)
}

// Scrollbar is a column of one cell and h lines that marks which part of total
// is shown. It is blank when everything is shown.
func Scrollbar(h, top, shown, total int, look style.Look) []string {
	if h <= 0 {
		return nil
	}
	if total <= shown || total <= 0 || shown <= 0 {
		return Stripe(" ", h)
	}
	out := Stripe(look.Border.Paint(look.Track), h)
	size := min(max(h*shown/total, 1), h)
	from := 0
	if room := total - shown; room > 0 {
		top = min(max(top, 0), room)
		from = (h - size) * top / room
		if top > 0 && from == 0 && h > size { // the end is shown only at the end
			from = 1
		}
	}
	for i := from; i < from+size && i < h; i++ {
		out[i] = look.Accent.Paint(look.Thumb)
	}
	return out
}

// Window returns the first row to show so that row sel of n stays visible in h
// rows, moving as little as possible from top.
func Window(top, sel, n, h int) int {
	if h <= 0 || n <= h {
		return 0
	}
	if sel >= 0 {
		sel = min(sel, n-1)
		if sel < top {
			top = sel
		} else if sel >= top+h {
			top = sel - h + 1
		}
	}
	return min(max(top, 0), n-h)
}
