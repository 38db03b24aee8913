package harness

import "bytes"

// mark is a piece of text that only one family prints.
type mark struct {
	family Family
	// prefix must stand at the start of the line after blanks; contains may
	// stand anywhere. Both must fit when both are set.
	prefix, contains string
}

// marks are tried in order on every line until one fits.
func marks() [4]mark {
	return [...]mark{
		{family: FlashAttn, prefix: "FlyDSL flash_attn_func ("},
		{family: FlashAttn, prefix: "FlyDSL vs ", contains: "aiter_"},
		{family: FlashAttn, prefix: "FlyDSL vs CK"},
		{family: FlashAttn, prefix: "B ", contains: " Hkv    D dtype   causal"},
	}
}

// sniff names the family of a line, Auto when it could be any.
func sniff(b []byte) Family {
	t := bytes.TrimLeft(b, " \t")
	if len(t) == 0 {
		return Auto
	}
	all := marks()
	for i := range all {
		m := &all[i]
		if m.prefix != "" && (t[0] != m.prefix[0] || !bytes.HasPrefix(t, []byte(m.prefix))) {
			continue
		}
		if m.contains == "" || bytes.Contains(t, []byte(m.contains)) {
			return m.family
		}
	}
	return Auto
}

// Detect names the family of a log by its first bytes; Unknown when no line
// of a known harness is among them.
func Detect(b []byte) Family {
	var scratch []byte
	for len(b) > 0 {
		l, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		if f := sniff(scrub(lastSegment(l), &scratch)); f != Auto {
			return f
		}
	}
	return Unknown
}
