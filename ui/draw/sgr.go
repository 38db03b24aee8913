package draw

import "strings"

// sgrLen returns the bytes of the SGR sequence at the start of s, or 0.
func sgrLen(s string) int {
	if len(s) < 3 || s[0] != esc || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s) && i < 40; i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c >= '0' && c <= '9', c == ';':
		default:
			return 0
		}
	}
	return 0
}

// sgr is which attributes are on at a point of a line.
type sgr struct {
	on     uint8  // bit i: attribute i+1 (1 bold … 8 hidden) is on
	strike bool   // attribute 9
	fg, bg string // parameters, "" for default
}

func (g sgr) none() bool { return g == sgr{} }

// apply follows one sequence, seq as cut by sgrLen.
func (g *sgr) apply(seq string) {
	p := seq[2 : len(seq)-1]
	if p == "" {
		*g = sgr{}
		return
	}
	for p != "" {
		var one string
		one, p, _ = strings.Cut(p, ";")
		switch {
		case one == "" || one == "0":
			*g = sgr{}
		case len(one) == 1 && one[0] >= '1' && one[0] <= '8':
			g.on |= 1 << (one[0] - '1')
		case one == "9":
			g.strike = true
		case one == "22":
			g.on &^= 1<<0 | 1<<1
		case len(one) == 2 && one[0] == '2' && one[1] >= '3' && one[1] <= '8':
			g.on &^= 1 << (one[1] - '1')
		case one == "29":
			g.strike = false
		case one == "38" || one == "48":
			var rest string
			rest, p = extended(p)
			if one == "38" {
				g.fg = "38;" + rest
			} else {
				g.bg = "48;" + rest
			}
		case one == "39":
			g.fg = ""
		case one == "49":
			g.bg = ""
		case len(one) == 2 && (one[0] == '3' || one[0] == '9'):
			g.fg = one
		case len(one) == 2 && one[0] == '4', len(one) == 3 && strings.HasPrefix(one, "10"):
			g.bg = one
		}
	}
}

// extended splits "5;n" or "2;r;g;b" from the front of p.
func extended(p string) (color, rest string) {
	n := 2
	if strings.HasPrefix(p, "2;") {
		n = 4
	}
	for i := 0; i < len(p); i++ {
		if p[i] == ';' {
			if n--; n == 0 {
				return p[:i], p[i+1:]
			}
		}
	}
	return p, ""
}

// shut returns the sequence that switches off what is on, "" if nothing is.
func (g sgr) shut() string {
	if g.none() {
		return ""
	}
	var off []string
	if g.on&(1<<0|1<<1) != 0 {
		off = append(off, "22")
	}
	for i := 2; i < 8; i++ {
		if g.on&(1<<i) != 0 {
			off = append(off, "2"+string(rune('1'+i)))
		}
	}
	if g.strike {
		off = append(off, "29")
	}
	if g.fg != "" {
		off = append(off, "39")
	}
	if g.bg != "" {
		off = append(off, "49")
	}
	return "\x1b[" + strings.Join(off, ";") + "m"
}

// open returns the sequence that brings the state back on a new line.
func (g sgr) open() string {
	if g.none() {
		return ""
	}
	var on []string
	for i := 0; i < 8; i++ {
		if g.on&(1<<i) != 0 {
			on = append(on, string(rune('1'+i)))
		}
	}
	if g.strike {
		on = append(on, "9")
	}
	if g.fg != "" {
		on = append(on, g.fg)
	}
	if g.bg != "" {
		on = append(on, g.bg)
	}
	return "\x1b[" + strings.Join(on, ";") + "m"
}
