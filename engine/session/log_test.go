package session

import (
	"strconv"
	"strings"
	"testing"
)

func TestLogKeepsNumbersAndOldValues(t *testing.T) {
	var l Log
	var old Log
	for i := range 3000 {
		if i == 1000 {
			old = l
		}
		l = l.Append(strconv.Itoa(i))
	}
	if l.First() != 0 || l.End() != 3000 || l.Line(0) != "0" || l.Line(2999) != "2999" || l.Line(511) != "511" || l.Line(512) != "512" {
		t.Fatalf("first %d end %d", l.First(), l.End())
	}
	if old.End() != 1000 || old.Line(1000) != "" || old.Line(999) != "999" {
		t.Fatalf("an older value changed: end %d", old.End())
	}
	if l.Line(-1) != "" || l.Line(3000) != "" {
		t.Error("lines outside the range")
	}
}

func TestLogDropsOldest(t *testing.T) {
	big := strings.Repeat("x", 64<<10)
	var l Log
	for range 2000 {
		l = l.Append(big)
	}
	if l.First() == 0 || l.bytes > logMaxBytes+logChunk*len(big) || l.End() != 2000 || l.Line(l.First()) != big {
		t.Fatalf("first %d end %d bytes %d", l.First(), l.End(), l.bytes)
	}
}

func BenchmarkLogAppend(b *testing.B) {
	lines := make([]string, 100)
	for i := range lines {
		lines[i] = "  2   1024   16   16  128  bf16   causal     1 dense | PASS"
	}
	var l Log
	for b.Loop() {
		l = l.Append(lines...)
	}
}
