package flyprof

import (
	"context"

	"kdapilot/engine/stall"
)

// LoadView is Load of path, and of base if it is not "", as the view that
// `show stalls --json` prints. floorPP is the noise floor in percentage points.
func LoadView(ctx context.Context, path, base string, floorPP float64, opts Options) (stall.View, error) {
	a, err := Load(ctx, path, opts)
	if err != nil {
		return stall.View{}, err
	}
	if base == "" {
		return stall.NewView(&a, nil, floorPP), nil
	}
	b, err := Load(ctx, base, opts)
	if err != nil {
		return stall.View{}, err
	}
	return stall.NewView(&a, &b, floorPP), nil
}
