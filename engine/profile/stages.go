package profile

import "fmt"

// Stage is one part of a capture. flyprof prints nothing until its end, so the
// files in the bundle are what shows how far it is.
type Stage struct {
	// Name is short and stable; Doing says what happens in it.
	Name  string `json:"name"`
	Doing string `json:"doing"`
	// Begin is the file, relative to the bundle, that begins the stage, "" when
	// nothing does; Done is the one that ends it.
	Begin string `json:"begin,omitempty"`
	Done  string `json:"done"`
}

// Plan are the stages of `flyprof run` and `capture`, in order, for a value of
// --tag ("" is the command's default). Other commands have none.
func Plan(command, tag string) []Stage {
	if command != "run" && command != "capture" {
		return nil
	}
	tags := []string{tag}
	switch {
	case tag == "both", tag == "" && command == "run":
		tags = []string{"small", "big"}
	case tag == "":
		tags = []string{"big"}
	}
	var out []Stage
	if command == "run" {
		out = append(out, Stage{"tile", "checking tools and tile sizes", "", "tile.json"})
	}
	out = append(out, Stage{"discover", "discovering the kernel under rocprofv3", ".cache_discover", "discover_kernel_stats.csv"})
	for _, t := range tags {
		out = append(out, Stage{"capture " + t, "capturing the thread trace, tag " + t, "input_trace_" + t + ".yaml", "capture_" + t + ".log"})
	}
	out = append(out, Stage{"inspect", "picking the dispatch to keep", "", "capture.json"})
	if command == "run" {
		out = append(out,
			Stage{"pmc", "collecting counters under rocprofv3", "input_pmc.yaml", "pmc.log"},
			Stage{"counters", "reading the counters", "", "counters.json"},
			Stage{"bubbles", "classifying stalls", "", "bubbles.json"},
			Stage{"map", "mapping ISA to source", "", "map.json"},
			Stage{"report", "writing the report", "", "report.json"},
		)
	}
	return out
}

// Stages is how far a capture got.
type Stages struct {
	Plan []Stage `json:"-"`
	// At is the index of the stage under way; len(Plan) when all are done.
	At int `json:"at"`
}

// Reached finds the stage a bundle is in. A stage counts as done when its file
// is there or a later stage has left one: counters and pmc may be skipped.
func Reached(plan []Stage, exists func(name string) bool) Stages {
	s := Stages{Plan: plan}
	for i := len(plan) - 1; i >= 0; i-- {
		if exists(plan[i].Done) {
			s.At = i + 1
			break
		}
		if plan[i].Begin != "" && exists(plan[i].Begin) {
			s.At = i
			break
		}
	}
	return s
}

// Complete reports whether every stage is done.
func (s *Stages) Complete() bool { return s.At >= len(s.Plan) }

// Now says what is being done, in words that follow "while".
func (s *Stages) Now() string {
	if s.Complete() {
		return "finishing"
	}
	return s.Plan[s.At].Doing
}

// Final is how far a run that is over got.
func (s *Stages) Final() string {
	if s.Complete() {
		return fmt.Sprintf("all %d stages done", len(s.Plan))
	}
	return fmt.Sprintf("stopped in stage %d of %d: %s", s.At+1, len(s.Plan), s.Plan[s.At].Doing)
}

// Words is the stage with its place, for example "stage 3 of 10: ...".
func (s *Stages) Words() string {
	if s.Complete() {
		return fmt.Sprintf("all %d stages done, waiting for the answer", len(s.Plan))
	}
	return fmt.Sprintf("stage %d of %d: %s", s.At+1, len(s.Plan), s.Plan[s.At].Doing)
}
