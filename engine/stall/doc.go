// Package stall is the room for what a decoded instruction trace means: which
// class of instruction the sampled waves waited in, at which source lines, for
// whom, and whether that changed between two captures.
//
// Bubbles is the data object of the profiler's `bubbles` command, key for key
// and digit for digit, so that a number computed here can be laid beside one
// the profiler wrote. Everything that says how far to believe it (Trust,
// Freshness, Finding) stands beside that object and never inside it.
//
// What may not enter: files, the clock, and advice the trace does not carry.
// Rows come in from probes/att, stored artifacts from probes/flyprof. Texts
// must have passed engine/text before they get here.
package stall
