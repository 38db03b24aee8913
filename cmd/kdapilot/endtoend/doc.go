// Package endtoend holds the tests that run the real program: on a pseudo
// terminal, read through a terminal emulator (package screen).
//
// What may not enter: anything the program needs, and knowledge of how it works
// inside.
package endtoend
