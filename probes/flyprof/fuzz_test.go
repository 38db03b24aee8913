package flyprof

import (
	"encoding/json"
	"strings"
	"testing"

	"kdapilot/engine/stall"
)

// clean fails when a value still carries what could move a terminal's cursor.
func clean(t *testing.T, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`\u001b`, `\u0007`, `\u009b`, "\x1b"} {
		if strings.Contains(string(b), bad) {
			t.Fatalf("%s in %s", bad, b)
		}
	}
}

func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(`{"ok":true,"command":"bubbles","bundle":"/b","data":{"totals":{"stall_pct":1.5},"stall_taxonomy":{"by_class":{"vmcnt":{"cycles":1,"pct":100.0,"rank":1,"is_bubble":true}}}},"warnings":["w"]}`))
	f.Add([]byte(`{"ok":false,"command":"run","error":{"code":"NO_GPU","exitCode":69,"message":"m","help":"h","available":[1],"trace":["t"]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ParseEnvelope(b)
		if err != nil {
			return
		}
		if e.OK == (e.Error != nil) {
			t.Fatalf("%+v", e)
		}
		e.Data = nil
		clean(t, e)
	})
}

func FuzzCapture(f *testing.F) {
	f.Add([]byte(`{"kernel":"k","tags":{"big":{"shape":"1,2","kept_dir":"att/big/x","waves":4,"occupancy_waves_per_cu":4.0}},"provenance":{"rocprofv3":"1.1.0","arch":"gfx950"}}`))
	f.Add([]byte(`{"kernel":"k\u001b[2J","tags":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		captures, err := ParseCapture(b)
		if err != nil {
			return
		}
		for _, c := range captures {
			c.AvgNanos = nil
			clean(t, c)
		}
		oneTag(captures)
	})
}

func FuzzBubbles(f *testing.F) {
	f.Add([]byte(`{"dispatch_dir":"d","totals":{"instructions":1},"stall_taxonomy":{"by_class":{"x":{"cycles":1}}},"hotspots":[{"inst":"s_nop","waitcnt_sources":[{"inst":"?"}]}],"by_source":[{"source":"a:1"}],"inst_mix":{"x":1.0},"occupancy":{"available":true,"mean_waves":1.5},"detail":{"inst":"x"},"kernel":"k"}`))
	f.Add([]byte(`{"totals":{},"stall_taxonomy":{"by_class":null},"recommendations":[{"rule":"r","evidence":{"value":1}}],"evidence_hotspots":[]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if bubbles, err := ParseBubbles(b); err == nil {
			clean(t, bubbles)
			stall.Diff(bubbles, bubbles, 0)
			stall.Recommend("k", &bubbles, nil, nil)
		}
		if r, err := parseReport(b); err == nil {
			clean(t, r.Report)
			fromReport(r)
		}
		_, _ = ParseCounters(b)
		_, _ = ParseRun(b)
		_, _ = ParseSidecar(b)
		questionIn(string(b))
	})
}
