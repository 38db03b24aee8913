package view

import (
	"testing"
	"time"
)

func TestFilter(t *testing.T) {
	row := "B1_S8192_H8 bf16 causal PASS"
	axes := map[string]string{"S": "8192", "dtype": "bf16", "causal": "true"}
	axis := func(n string) (string, bool) { v, ok := axes[n]; return v, ok }
	for _, c := range []struct {
		filter string
		want   bool
	}{
		{"", true}, {"bf16", true}, {"BF16", false}, {"pass", true}, {"!pass", false}, {"!fail", true},
		{"bf16 causal", true}, {"bf16 fp8", false}, {"-f bcp", true}, {"-f zzz", false},
		{"dtype:bf16", true}, {"dtype:FP8", false}, {"S>4096", true}, {"S<4096", false}, {"S>=8192 causal:true", true},
		{"!dtype:bf16", false}, {"none:x", false}, {"H>4", false}, {"-fx", false},
	} {
		if got := NewFilter(c.filter).Keep(row, axis); got != c.want {
			t.Errorf("filter %q keeps the row: %v, want %v", c.filter, got, c.want)
		}
	}
	if !NewFilter(" ! ").Empty() {
		t.Error("a lone ! should keep everything")
	}
}

func TestAge(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ago  time.Duration
		want string
	}{
		{0, "now"}, {59 * time.Second, "now"}, {time.Minute, "1 min"}, {59 * time.Minute, "59 min"}, {time.Hour, "1 h"},
		{47 * time.Hour, "47 h"}, {48 * time.Hour, "2 d"}, {-3 * time.Hour, "in 3 h"}, {-30 * time.Second, "now"},
	} {
		if got := Age(now, now.Add(-c.ago)); got != c.want {
			t.Errorf("%s ago: %q, want %q", c.ago, got, c.want)
		}
	}
	if Age(now, time.Time{}) != "-" {
		t.Error("an unknown time has no age")
	}
}

func TestSigned(t *testing.T) {
	for v, want := range map[float64]string{3.14: "+3.1", -0.8: "-0.8", 0: "0.0", -0.01: "0.0"} {
		if got := Signed(v, 1); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}
