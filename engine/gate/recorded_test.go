package gate

import (
	"strings"
	"testing"

	"kdapilot/engine/journal"
)

func TestUnrecorded(t *testing.T) {
	g1, g2 := signed(G1), signed(G2)
	records := []journal.Record{
		{Kind: Sealed, Gate: "G1", Seal: g1.ID},
		{Kind: "gate refused", Gate: "G2", Seal: g2.ID},
	}
	got := Unrecorded([]Seal{g1, g2}, records)
	if len(got) != 1 || got[0].ID != g2.ID {
		t.Errorf("got %d", len(got))
	}
	if got := Unrecorded([]Seal{g1}, nil); len(got) != 1 {
		t.Error("a seal beside an empty journal was taken for recorded")
	}
}

func TestDecodeWaiverNamesTheLine(t *testing.T) {
	w := Waiver{Precondition: "plan-draft", Binds: planSHA, Who: "mk", Why: "hand-made", At: t0}
	b, err := w.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeWaiver("x", b); err != nil || got != w {
		t.Errorf("%+v %v", got, err)
	}
	for bad, want := range map[string]string{
		"{\n\"who\": 3}":                "w.json:2: expected a waiver",
		"{\n\n\"whom\": \"a\"}":         "w.json:3: expected a waiver",
		"{\"who\": \"mk\"}":             "w.json: a waiver needs precondition",
		string(b) + "{}":                "nothing after it",
		"":                              "w.json:1: expected a waiver",
		"{\"who\": \"\x1b[31m\", \"x\"": "w.json:1:",
	} {
		if _, err := DecodeWaiver("w.json", []byte(bad)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: got %v, want %q", bad, err, want)
		}
	}
}

func FuzzDecodeWaiver(f *testing.F) {
	f.Add([]byte(`{"precondition":"a","binds":"b","who":"c","why":"d","at":"2026-08-21T12:00:00Z"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := DecodeWaiver("x", b)
		if err == nil && (w.Who == "" || w.Why == "" || strings.ContainsAny(w.Why, "\x1b\n")) {
			t.Errorf("taken: %+v", w)
		}
	})
}
