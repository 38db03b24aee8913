package flyprof

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"kdapilot/engine/profile"
	"kdapilot/engine/text"
)

// maxKernels bounds the kernels taken from a list; real lists have about 40.
const maxKernels = 1000

// ParseSaid finds the one envelope in what a run printed on stdout and takes
// its answer. Text before the envelope (a runenv.sh that speaks) is stepped
// over. The error says why there is no whole envelope, with the line.
func ParseSaid(stdout []byte) (profile.Said, error) {
	b := bytes.TrimSpace(stdout)
	env, err := ParseEnvelope(b)
	if err != nil {
		at, ok := envelopeStart(b)
		if !ok {
			return profile.Said{}, err
		}
		if env, err = ParseEnvelope(b[at:]); err != nil {
			return profile.Said{}, err
		}
	}
	return said(env)
}

// envelopeStart is the last line that begins an object at the left edge.
func envelopeStart(b []byte) (at int, ok bool) {
	i := bytes.LastIndex(b, []byte("\n{"))
	return i + 1, i >= 0
}

// said takes an envelope's data apart by the command it belongs to.
func said(env Envelope) (profile.Said, error) {
	s := profile.Said{OK: env.OK, Command: env.Command, Bundle: env.Bundle, Warnings: env.Warnings}
	if e := env.Error; e != nil {
		s.Code, s.Exit, s.Message, s.Help, s.Candidates = e.Code, e.Exit, e.Message, e.Help, e.Candidates
		if s.Code == "" {
			return s, errors.New("the envelope's error has no code")
		}
		return s, nil
	}
	var err error
	switch env.Command {
	case "doctor":
		s.Doctor, err = parseDoctor(env.Data)
	case "list":
		s.Kernels, err = parseKernels(env.Data)
	case "run", "report":
		err = parseHeadline(env.Data, &s)
	case "diff":
		s.Diff, err = parseDiff(env.Data, &s)
	case "wiki":
		s.Wiki, err = parseWiki(env.Data)
	}
	if err != nil {
		return s, fmt.Errorf("data of the %s envelope: %w", env.Command, err)
	}
	return s, nil
}

func parseDoctor(b []byte) (*profile.Doctor, error) {
	var f struct {
		Rocprofv3 struct {
			Present bool    `json:"present"`
			Version *string `json:"version"`
		} `json:"rocprofv3"`
		GPU struct {
			Present bool    `json:"present"`
			Arch    *string `json:"arch"`
		} `json:"gpu"`
		Tree struct {
			Path string `json:"path"`
		} `json:"build_tree"`
		Verdict  string   `json:"verdict"`
		Blockers []string `json:"blockers"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, explain(b, err)
	}
	if f.Verdict != "ready" && f.Verdict != "not-ready" {
		return nil, fmt.Errorf("verdict %q, expected ready or not-ready", line(f.Verdict))
	}
	d := &profile.Doctor{Ready: f.Verdict == "ready" && len(f.Blockers) == 0, Blockers: lines(f.Blockers), BuildTree: line(f.Tree.Path)}
	if d.Blockers == nil {
		d.Blockers = []string{}
	}
	if f.Rocprofv3.Present && f.Rocprofv3.Version != nil {
		d.Rocprofv3 = line(*f.Rocprofv3.Version)
	}
	if f.GPU.Present && f.GPU.Arch != nil {
		d.Arch = line(*f.GPU.Arch)
	}
	return d, nil
}

func parseKernels(b []byte) ([]profile.Kernel, error) {
	var f struct {
		Kernels *[]profile.Kernel `json:"kernels"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, explain(b, err)
	}
	if f.Kernels == nil {
		return nil, errors.New(`no "kernels" in it`)
	}
	out := []profile.Kernel{}
	for _, k := range (*f.Kernels)[:min(len(*f.Kernels), maxKernels)] {
		k.Name, k.TestFile, k.Category, k.Recipe = line(k.Name), line(k.TestFile), line(k.Category), line(k.Recipe)
		same := func(o profile.Kernel) bool { return o.Name == k.Name }
		if k.Name != "" && !slices.ContainsFunc(out, same) {
			out = append(out, k)
		}
	}
	return out, nil
}

func parseHeadline(b []byte, s *profile.Said) error {
	var f struct {
		Headline string            `json:"headline"`
		Steps    map[string]string `json:"steps"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return explain(b, err)
	}
	s.Headline = line(f.Headline)
	for _, name := range runSteps() {
		if v, ok := f.Steps[name]; ok {
			s.Steps = append(s.Steps, profile.Step{Name: name, Result: line(v)})
		}
	}
	return nil
}

func parseDiff(b []byte, s *profile.Said) (*profile.Diff, error) {
	var f struct {
		Headline string `json:"headline"`
		Verdict  *struct {
			Class  *string  `json:"rank1_bubble_class"`
			Shrank *bool    `json:"rank1_bubble_shrank"`
			Before *float64 `json:"before_pct"`
			After  *float64 `json:"after_pct"`
			Delta  *float64 `json:"delta_pct"`
		} `json:"verdict"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, explain(b, err)
	}
	if f.Verdict == nil {
		return nil, errors.New(`no "verdict" in it`)
	}
	s.Headline = line(f.Headline)
	d := &profile.Diff{Shrank: f.Verdict.Shrank, Before: f.Verdict.Before, After: f.Verdict.After, Delta: f.Verdict.Delta}
	if f.Verdict.Class != nil {
		d.Class = line(*f.Verdict.Class)
	}
	return d, nil
}

func parseWiki(b []byte) (*profile.Wiki, error) {
	var f struct {
		Class     string         `json:"bubble_class"`
		Query     string         `json:"query"`
		Technique *string        `json:"technique_hint"`
		Results   []profile.Page `json:"results"`
		PRs       []any          `json:"implemented_by_prs"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, explain(b, err)
	}
	w := &profile.Wiki{Class: line(f.Class), Query: line(f.Query), Pages: []profile.Page{}}
	if f.Technique != nil {
		w.Technique = line(*f.Technique)
	}
	for _, p := range f.Results[:min(len(f.Results), maxWarnings)] {
		w.Pages = append(w.Pages, profile.Page{ID: line(p.ID), Title: line(p.Title), Path: line(p.Path)})
	}
	for _, p := range f.PRs[:min(len(f.PRs), maxWarnings)] {
		// Numbers or names: the wiki writes both.
		w.PRs = append(w.PRs, line(fmt.Sprint(p)))
	}
	return w, nil
}

// UsageError is the reason argparse gives on stderr, "" when there is none.
func UsageError(stderr []byte) string {
	last := ""
	for l := range bytes.Lines(stderr[max(0, len(stderr)-64<<10):]) {
		if i := bytes.Index(l, []byte("error: ")); i >= 0 {
			last = text.Line(text.Clip(string(bytes.TrimSpace(l[i+len("error: "):])), maxText))
		}
	}
	return last
}
