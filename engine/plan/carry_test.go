package plan

import (
	"strings"
	"testing"
)

func TestCarryKeepsWhatDidNotChange(t *testing.T) {
	const before = "# T\n\n## A\none\ntwo\n\n## B\nthree\n"
	was := Parse([]byte(before))
	old := NewReading(was, "1")
	old.Show(1, was.Lines)
	for _, c := range []struct {
		name, text string
		unread     []string
	}{
		{"nothing", before, nil},
		{"text of A", strings.Replace(before, "two", "2", 1), []string{"a"}},
		{"lines moved down", "# T\n\n## New\nx\n\n## A\none\ntwo\n\n## B\nthree\n", []string{"new"}},
		{"a heading gone", "# T\n\n## A\none\ntwo\n\nthree\n", []string{"a"}},
		{"renamed", strings.Replace(before, "## B", "## C", 1), []string{"c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Parse([]byte(c.text))
			r := NewReading(d, "2")
			r.Carry(old, was, d)
			seen := r.Seen(d)
			var unread []string
			for _, s := range d.Sections {
				if !seen[s.ID] {
					unread = append(unread, s.ID)
				}
			}
			if strings.Join(unread, " ") != strings.Join(c.unread, " ") {
				t.Errorf("unread %q, want %q", unread, c.unread)
			}
		})
	}
}

func TestCarryKeepsHalfReadSections(t *testing.T) {
	was := Parse([]byte("## A\n1\n2\n3\n"))
	old := NewReading(was, "1")
	old.Show(1, 2)
	d := Parse([]byte("# T\n## A\n1\n2\n3\n"))
	r := NewReading(d, "2")
	r.Carry(old, was, d)
	if got := r.Next(1); got != 1 && got != 4 {
		t.Errorf("next unread line %d", got)
	}
	r.Show(1, 1)
	if got := r.Next(0); got != 4 {
		t.Errorf("the first unread line is %d, want 4", got)
	}
}
