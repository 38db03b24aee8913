package journal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

func sample(t testing.TB, n int) []byte {
	t.Helper()
	var out []byte
	tip := Start()
	for i := range n {
		line, next, err := Append(tip, Record{
			At: time.Date(2026, 8, 21, 12, i, 0, 0, time.UTC), Kind: "gate sealed", Gate: "G1", Seal: fmt.Sprintf("%064d", i),
			Who: "mk@mi355x-07", Text: "plan approved", Data: map[string]string{"plan": "ab", "draft": "cd"},
		})
		if err != nil {
			t.Fatal(err)
		}
		out, tip = append(out, line...), next
	}
	return out
}

func TestVerifyHolds(t *testing.T) {
	b := sample(t, 5)
	c, err := Verify(bytes.NewReader(b))
	if err != nil || c.Broken != nil || c.Torn || len(c.Records) != 5 || c.Tip.Seq != 5 || c.Good != int64(len(b)) {
		t.Fatalf("%+v %v", c, err)
	}
}

// TestEveryFlippedByteIsFound flips each byte of the journal in turn.
func TestEveryFlippedByteIsFound(t *testing.T) {
	b := sample(t, 3)
	for i := range b {
		for _, bit := range []byte{0x01, 0x20} {
			bad := bytes.Clone(b)
			bad[i] ^= bit
			c, err := Verify(bytes.NewReader(bad))
			if err != nil {
				t.Fatal(err)
			}
			line := bytes.Count(b[:i], []byte{'\n'}) + 1
			switch {
			case c.Broken == nil && !c.Torn:
				t.Fatalf("byte %d (%q) flipped and not found", i, b[i])
			case c.Broken != nil && c.Broken.Line > line+1:
				t.Fatalf("byte %d of line %d flipped, found at line %d", i, line, c.Broken.Line)
			}
		}
	}
}

func TestMissingAndMovedLines(t *testing.T) {
	lines := bytes.SplitAfter(sample(t, 4), []byte{'\n'})[:4]
	for name, order := range map[string][]int{"first gone": {1, 2, 3}, "middle gone": {0, 2, 3}, "swapped": {0, 2, 1, 3}, "twice": {0, 1, 1, 2}} {
		var b []byte
		for _, i := range order {
			b = append(b, lines[i]...)
		}
		if c, err := Verify(bytes.NewReader(b)); err != nil || c.Broken == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

func TestTornLastLine(t *testing.T) {
	b := sample(t, 2)
	cut := b[:len(b)-10]
	c, err := Verify(bytes.NewReader(cut))
	if err != nil || !c.Torn || c.Broken != nil || len(c.Records) != 1 {
		t.Fatalf("%+v %v", c, err)
	}
	if int(c.Good) != bytes.IndexByte(b, '\n')+1 {
		t.Errorf("good part is %d bytes", c.Good)
	}
}

func TestAppendRefuses(t *testing.T) {
	if _, _, err := Append(Start(), Record{}); err == nil {
		t.Error("a record without a kind")
	}
	if _, _, err := Append(Start(), Record{Kind: "x", Text: strings.Repeat("y", MaxLine)}); err == nil {
		t.Error("a record over the limit")
	}
	long := append(bytes.Repeat([]byte{'x'}, MaxLine+2), '\n')
	if c, err := Verify(bytes.NewReader(long)); err != nil || c.Broken == nil {
		t.Error("a line over the limit")
	}
}

func FuzzVerify(f *testing.F) {
	f.Add(sample(f, 2))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Verify(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if c.Broken == nil && !c.Torn && c.Good != int64(len(b)) {
			t.Error("a part of the file was not judged")
		}
	})
}
