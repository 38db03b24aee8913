package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestRowJSON: what is written reads back, with NaN, nulls and field order.
func TestRowJSON(t *testing.T) {
	r := Row{Key: "k", Section: "extra", Status: Fail, US: Of(12.5), MaxErr: Of(math.NaN()), MinCos: Of(math.Inf(-1)), Error: "x\ny",
		Warnings: []string{"w"}, MD5: "a", Fields: Fields{{"S", Int(512)}, {"causal", Bool(true)}, {"mode", Null()},
			{"cos", Float(math.Inf(1))}, {"baseline", Obj(Fields{{"us", Float(1.5)}})}, {"list", List(Int(1), Str("a"))}, {"status", Str("hidden")}}}
	want := `{"section":"extra","key":"k","S":512,"causal":true,"mode":null,"cos":"+Inf","baseline":{"us":1.5},"list":[1,"a"],"status":"FAIL","us":12.5,"tflops":null,"max_err":"NaN","min_cos":"-Inf","error":"x\ny","warnings":["w"],"result_md5":"a"}`
	b, err := json.Marshal(r)
	if err != nil || string(b) != want {
		t.Fatalf("%v\nhave %s\nwant %s", err, b, want)
	}
	var back Row
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != want {
		t.Errorf("%v\nback %s", err, again)
	}
	if !math.IsNaN(back.MaxErr.V) || back.TFLOPS.OK || back.US.V != 12.5 {
		t.Errorf("%+v", back)
	}
}

func TestRowJSONErrors(t *testing.T) {
	for _, in := range []string{`[]`, `{"us":1}`, `{"key":"k","us":"fast"}`, `{"key":"k","us":{}}`, `{`, ``} {
		var r Row
		if err := json.Unmarshal([]byte(in), &r); err == nil {
			t.Errorf("%q was accepted", in)
		}
	}
}

func TestNum(t *testing.T) {
	for _, in := range []string{`null`, `1.5`, `"NaN"`, `"+Inf"`, `"-Inf"`} {
		var n Num
		if err := json.Unmarshal([]byte(in), &n); err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(n)
		if err != nil || string(out) != in {
			t.Errorf("%s became %s, %v", in, out, err)
		}
	}
	var n Num
	if err := json.Unmarshal([]byte(`"fast"`), &n); err == nil {
		t.Error("a word was accepted")
	}
	if (Num{}).Positive() || Of(0).Positive() || Of(math.NaN()).Finite() || (Num{}).String() != "-" {
		t.Error("absent, zero and NaN")
	}
}

// FuzzRowJSON: any JSON is refused or survives a round trip.
func FuzzRowJSON(f *testing.F) {
	f.Add([]byte(`{"key":"k","us":1e400,"x":{"a":[1,{"b":null}]}}`))
	f.Add([]byte(`{"key":"k","status":"PASS","max_err":"NaN"}`))
	f.Add([]byte(`{"key":"\u00e9\n","a":-0.5e-3,"b":[],"c":{},"d":[true,false]} `))
	f.Fuzz(func(t *testing.T, b []byte) {
		// Both readers accept the same texts, nesting aside.
		if _, err := ParseValue(b); (err == nil) != json.Valid(b) && !strings.Contains(fmt.Sprint(err), "nested deeper") {
			t.Fatalf("%q: %v, valid %v", b, err, json.Valid(b))
		}
		var r Row
		if json.Unmarshal(b, &r) != nil {
			return
		}
		out, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("%v for %q", err, b)
		}
		var again Row
		if err := json.Unmarshal(out, &again); err != nil {
			t.Fatalf("%v for %s", err, out)
		}
	})
}

// FuzzRanks: any two samples give a probability and an ordered interval.
func FuzzRanks(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, uint8(5))
	f.Fuzz(func(t *testing.T, b []byte, cut uint8) {
		n := int(cut)%12 + 1
		if len(b) <= n || len(b) > 40 {
			return
		}
		var x, y, lx, ly []float64
		for i, v := range b {
			us := float64(v) + 0.5
			if i < n {
				x, lx = append(x, us), append(lx, math.Log(us))
			} else {
				y, ly = append(y, us), append(ly, math.Log(us))
			}
		}
		k := newRanker()
		if _, p := k.mannWhitney(x, y); !(p > 0 && p <= 1) {
			t.Fatalf("p %v for %v %v", p, x, y)
		}
		if shift, lo, hi, ok := k.hodgesLehmann(lx, ly, 0.05); ok && !(lo <= shift && shift <= hi) {
			t.Fatalf("%v not in [%v, %v]", shift, lo, hi)
		}
	})
}
