package humanize

import (
	"context"
	"errors"

	"kdapilot/engine/loop"
)

// Round reads the texts of round n of a loop.
func Round(ctx context.Context, l *loop.Loop, n int) (RoundTexts, error) {
	return RoundTexts{}, errors.New("not written yet")
}
