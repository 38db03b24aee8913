// Package flyprof reads what the flyprof command leaves behind: bundles with
// capture.json, bubbles.json, report.json and decoded traces, and the envelopes
// it prints. It chooses the dispatch, checks stored artifacts against the trace
// beside them, and hands out one stall.Analysis.
//
// What may not enter: running flyprof, and formulas (engine/stall). It only
// reads, within bounds.
package flyprof
