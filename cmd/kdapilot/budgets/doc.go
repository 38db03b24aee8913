// Package budgets holds what the program may cost, as benchmarks of the real
// binary: the time to the first frame, what idling takes, how soon a changed
// file and a pressed key show. .ci/budget runs them and compares with the
// limits.
//
// What may not enter: a limit. A test on a loaded machine proves nothing about
// speed; a figure beside its limit does.
package budgets
