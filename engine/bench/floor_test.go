package bench

import "testing"

func TestMeasureFloor(t *testing.T) {
	a := arm(5, timed("quiet", 100, 100.1, 99.9, 100, 100.1), timed("noisy", 100, 104, 97, 101, 99), with("skipped", Skip))
	b := arm(5, timed("quiet", 100.1, 100, 100, 99.9, 100), timed("noisy", 102, 98, 103, 96, 100), with("skipped", Skip))
	f := MeasureFloor(a, b, Options{})
	if q := f.Cells["quiet"]; q <= 0 || q > 0.005 {
		t.Errorf("quiet floor %v", q)
	}
	if n := f.Cells["noisy"]; n < 0.03 || n > 0.2 {
		t.Errorf("noisy floor %v", n)
	}
	if len(f.Unmeasured) != 1 || f.Unmeasured[0].Key != "skipped" || f.N != 5 || len(f.False) != 0 {
		t.Errorf("%+v", f)
	}
	// With the floor in place a change inside it is no win.
	c := Compare(arm(5, timed("noisy", 100)), arm(5, timed("noisy", 98)), Options{CellFloor: f.Cells})
	if c.Cells[0].Verdict != Same {
		t.Errorf("a change inside the measured floor is %s", c.Cells[0].Verdict)
	}
}
