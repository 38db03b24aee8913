package safe

import (
	"errors"
	"strings"
	"testing"
)

func TestGoReportsPanic(t *testing.T) {
	got := make(chan error, 1)
	Go("probe x", func(err error) { got <- err }, func() { panic("boom") })
	err := <-got
	var p *PanicError
	if !errors.As(err, &p) || p.Where != "probe x" || !strings.Contains(err.Error(), "boom") || len(p.Stack) == 0 {
		t.Fatalf("got %#v", err)
	}
}
