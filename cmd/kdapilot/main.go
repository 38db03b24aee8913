// Command kdapilot is the terminal cockpit for tuning FlyDSL kernels with an
// agent loop. This room holds one file per subcommand, the wiring of probes
// into the engine (live), and the exit codes.
//
// What may not enter: parsing, meaning or drawing.
package main

import (
	"fmt"
	"os"

	"kdapilot/engine/text"
)

func main() {
	os.Exit(execute(os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// execute is main with its surroundings handed in, so that scripts can drive it.
func execute(args []string, s streams) int {
	cmd := newRoot(s)
	cmd.SetArgs(args)
	err := cmd.Execute()
	if err != nil && err.Error() != "" {
		fmt.Fprintln(s.err, "kdapilot:", text.Clean(err.Error()))
	}
	return codeOf(err)
}
