// Package gitrepo is the probe that asks git, through its command line, with a
// time limit and without taking locks. All names and subjects come out stripped
// of control sequences: a branch name can hold them.
//
// What may not enter: judgement. Whether a tree is clean enough for a gate is
// decided in the engine. Writing is confined to write.go.
package gitrepo
