package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// compare is v op want, as numbers where both are, else as text without case.
func compare(v, op, want string) bool {
	a, errA := strconv.ParseFloat(v, 64)
	b, errB := strconv.ParseFloat(want, 64)
	numbers := errA == nil && errB == nil
	switch op {
	case ">":
		return numbers && a > b
	case ">=":
		return numbers && a >= b
	case "<":
		return numbers && a < b
	case "<=":
		return numbers && a <= b
	default:
		return numbers && a == b || strings.EqualFold(v, want)
	}
}

// Age says how long ago t was, in the one unit that fits: "now", "12 min",
// "3 h", "5 d". A time in the future by more than a minute is said so, an
// unknown time is "-".
func Age(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	d := now.Sub(t)
	switch {
	case d < -time.Minute:
		return "in " + span(-d)
	case d < time.Minute:
		return "now"
	default:
		return span(d)
	}
}

func span(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d d", int(d.Hours()/24))
	}
}

// Clock is a running time as m:ss or h:mm:ss, in whole seconds.
func Clock(d time.Duration) string {
	s := int(d.Seconds())
	if s < 0 {
		s = 0
	}
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Count is n with its noun: "1 file", "3 files", "no files".
func Count(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun
	default:
		return strconv.Itoa(n) + " " + noun + "s"
	}
}

// Signed is a change with its sign and n decimals: "+3.1", "-0.8", "0.0".
func Signed(v float64, n int) string {
	s := strconv.FormatFloat(v, 'f', n, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	if v > 0 {
		return "+" + s
	}
	return s
}
