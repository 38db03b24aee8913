// Package e2e attacks the real program where package endtoend walks through it:
// hostile files, lost terminals, keys that no person pressed, a journal with a
// changed byte, a monkey at the keyboard. Both drive it with endtoend/screen.
//
// What may not enter: anything the program needs, knowledge of how it works
// inside, and what endtoend proves already.
package e2e
