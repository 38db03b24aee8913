package live

import (
	"os"

	"kdapilot/engine/text"
)

// oneLine is an error as one clean line.
func oneLine(err error) string { return text.Clip(text.Line(err.Error()), 400) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
