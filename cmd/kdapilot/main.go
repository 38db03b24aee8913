// Command kdapilot is the terminal cockpit for tuning FlyDSL kernels with an
// agent loop. This room wires probes into the engine and the engine into the
// ui, one file per subcommand, and decides exit codes.
//
// What may not enter: parsing, meaning or drawing.
package main

func main() {}
