// Package att reads decoded dispatch directories: what the vendor's profiler
// leaves after decoding an instruction trace (code.json, wave files, occupancy,
// clocks, copies of the sources).
//
// Reading goes in stages so that a screen can show the stall classes after
// milliseconds: Open needs code.json alone, Facts adds the small files, Waits
// reads the tails of up to thousands of wave files.
//
// What may not enter: what the numbers mean (engine/stall), bundles and the
// choice between dispatches (probes/flyprof). Nothing here writes.
package att
