// Package live joins probes and engine into a session.Session: on a worktree
// that is being worked in, or on a copied folder. It is the only place that
// knows both sides.
//
// How a change travels:
//
//	watch hint -> job of the probe concerned -> fact -> session.Reduce -> Snapshot
//	                                                                   -> Changed (at most 10 a second)
//	action     -> Do -> probe                -> fact -> …
//
// A hint is never the truth: the job reads its folder again. One job never runs
// twice at once; hints that come while it runs make it run once more.
//
// What may not enter: parsing, meaning, drawing.
package live
