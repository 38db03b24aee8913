package gate

import "kdapilot/engine/journal"

// Sealed is the kind of the journal record that a seal leaves.
const Sealed = "gate sealed"

// Unrecorded gives the seals that the journal does not know. A chain can not
// show that its last lines were cut off, or that a whole new one was written; a
// seal without its record does. So does a seal that was put there by hand.
func Unrecorded(seals []Seal, records []journal.Record) []Seal {
	known := map[string]bool{}
	for _, r := range records {
		if r.Kind == Sealed && r.Gate != "" {
			known[r.Gate+" "+r.Seal] = true
		}
	}
	var out []Seal
	for _, s := range seals {
		if !known[string(s.Gate)+" "+s.ID] {
			out = append(out, s)
		}
	}
	return out
}
