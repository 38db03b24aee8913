// SIMULATED: stands for the compiled part of a checkout, so that the age of a
// build has a source to be compared with. Nothing compiles it.
