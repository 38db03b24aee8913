package numerics

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Limits of a probe: they bound memory, the context bounds time.
const (
	maxSeqLen   = 1 << 17
	maxHeadDim  = 1 << 10
	maxHeads    = 1 << 12
	maxBatch    = 1 << 12
	maxDesigns  = 32
	maxPerHead  = 1 << 24 // elements of one head's K
	maxElements = 1 << 32 // elements of Q
)

// Shape is an attention shape. Heads query heads share KVHeads key and value
// heads in groups of neighbours (GQA); equal counts are plain multi-head.
type Shape struct {
	Batch   int `json:"batch"`
	Heads   int `json:"heads"`
	KVHeads int `json:"kv_heads"`
	SeqLen  int `json:"seq_len"`
	HeadDim int `json:"head_dim"`
}

// AttentionConfig says what to compute. The zero value of a field means its
// default; Attention returns the configuration with all defaults filled in.
type AttentionConfig struct {
	Shape Shape `json:"shape"`
	// Causal hides the keys after a query's own position.
	Causal bool `json:"causal"`
	// Inputs is the format of Q, K and V; default e4m3fn.
	Inputs Format `json:"inputs"`
	// Scales brings Q, K and V into range; default per_tensor for fp8, unit for
	// the wider formats, which take no other.
	Scales ScaleMode `json:"scales"`
	// Values is what Q, K and V are drawn from; default uniform, since the gate's
	// limit on max_err is absolute and was set for inputs drawn like that.
	Values Distribution `json:"values"`
	// Output is the format the output is rounded to; default bf16.
	Output Format `json:"output"`
	// Reference is what the f64 reference starts from; default dequantised.
	Reference Reference `json:"reference"`
	// Designs default to DefaultDesigns(Inputs).
	Designs []Design `json:"designs"`
	// Gate defaults to FP8Gate or HalfGate, by Inputs.
	Gate Gate `json:"gate"`
	// Seed of the inputs; 0 is a seed like any other.
	Seed uint64 `json:"seed"`

	// Workers is the number of goroutines; 0 means one per processor. It does
	// not change the result.
	Workers int `json:"-"`
	// Progress is called after each block of rows, never twice at once.
	Progress func(Progress) `json:"-"`
	// Now is the clock for ElapsedSeconds; nil leaves it out.
	Now func() time.Time `json:"-"`
}

// withDefaults fills in what was left open.
func (c AttentionConfig) withDefaults() AttentionConfig {
	if c.Shape.KVHeads == 0 {
		c.Shape.KVHeads = c.Shape.Heads
	}
	if c.Inputs == noFormat {
		c.Inputs = E4M3FN
	}
	if c.Scales == "" {
		c.Scales = Unit
		if c.Inputs.fp8() {
			c.Scales = PerTensor
		}
	}
	if c.Values == "" {
		c.Values = Uniform
	}
	if c.Output == noFormat {
		c.Output = BF16
	}
	if c.Reference == "" {
		c.Reference = Dequantised
	}
	if c.Designs == nil {
		c.Designs = DefaultDesigns(c.Inputs)
	}
	c.Designs = slices.Clone(c.Designs)
	if c.Gate.empty() {
		c.Gate = HalfGate()
		if c.Inputs.fp8() {
			c.Gate = FP8Gate()
		}
	}
	c.Workers = workerCount(c.Workers)
	return c
}

// Check reports everything that is wrong with the configuration, one error a
// line, after defaults are filled in. Attention calls it.
func (c AttentionConfig) Check() error { return c.withDefaults().check() }

func (c AttentionConfig) check() error {
	all := []error{c.Shape.check()}
	add := func(what string, err error) {
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", what, err))
		}
	}
	if !c.Inputs.valid() || c.Inputs == E2M1 {
		all = append(all, fmt.Errorf("inputs: format %s can not be used, want fp8, bf16, fp16 or f32", c.Inputs))
	}
	if !c.Output.valid() {
		all = append(all, errors.New("output: no such format"))
	}
	_, err := choose("scales", string(c.Scales), PerTensor, PerHead, Unit)
	all = append(all, err)
	if c.Scales != Unit && c.Inputs.valid() && !c.Inputs.fp8() {
		all = append(all, fmt.Errorf("scales: %s inputs are not scaled, want unit", c.Inputs))
	}
	_, err = choose("values", string(c.Values), Normal, Uniform)
	all = append(all, err)
	_, err = choose("reference", string(c.Reference), Dequantised, Original)
	all = append(all, err, c.Gate.check())
	if len(c.Designs) == 0 || len(c.Designs) > maxDesigns {
		all = append(all, fmt.Errorf("designs: %d given, want 1 to %d", len(c.Designs), maxDesigns))
		return errors.Join(all...)
	}
	seen := map[string]bool{}
	for _, d := range c.Designs {
		add("design "+d.Name(), d.check())
		if seen[d.Name()] {
			all = append(all, fmt.Errorf("design %s: given twice", d.Name()))
		}
		seen[d.Name()] = true
	}
	return errors.Join(all...)
}

func (s Shape) check() error {
	var all []error
	for _, f := range []struct {
		name   string
		v, top int
	}{
		{"batch B", s.Batch, maxBatch}, {"heads H", s.Heads, maxHeads}, {"kv heads Hkv", s.KVHeads, maxHeads},
		{"sequence length S", s.SeqLen, maxSeqLen}, {"head dimension D", s.HeadDim, maxHeadDim},
	} {
		if f.v < 1 || f.v > f.top {
			all = append(all, fmt.Errorf("%s is %d, want 1 to %d", f.name, f.v, f.top))
		}
	}
	if len(all) > 0 {
		return errors.Join(all...)
	}
	if s.Heads%s.KVHeads != 0 {
		return fmt.Errorf("%d heads H can not be shared by %d kv heads Hkv: want a multiple", s.Heads, s.KVHeads)
	}
	if s.SeqLen*s.HeadDim > maxPerHead {
		return fmt.Errorf("shape: S x D is %d elements a head, want at most %d", s.SeqLen*s.HeadDim, maxPerHead)
	}
	if n := s.Batch * s.Heads * s.SeqLen * s.HeadDim; n > maxElements {
		return fmt.Errorf("shape: B x H x S x D is %d elements, want at most %d", n, maxElements)
	}
	return nil
}

// String is the shape in the form ParseShape reads.
func (s Shape) String() string {
	return fmt.Sprintf("B%d H%d Hkv%d S%d D%d", s.Batch, s.Heads, s.KVHeads, s.SeqLen, s.HeadDim)
}

// Attention computes softmax(Q K^T / sqrt(D)) V for every design and measures
// it against an f64 reference. The error is Check's, the context's, or a panic
// that was caught.
func Attention(ctx context.Context, cfg AttentionConfig) (Result, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return Result{}, fmt.Errorf("attention probe: %w", err)
	}
	var start time.Time
	if cfg.Now != nil {
		start = cfg.Now()
	}
	p, err := newAttentionProbe(ctx, cfg)
	if err == nil {
		err = p.run(ctx)
	}
	if err != nil {
		return Result{}, fmt.Errorf("attention probe %s: %w", cfg.Shape, err)
	}
	res := p.result()
	if cfg.Now != nil {
		s := cfg.Now().Sub(start).Seconds()
		res.ElapsedSeconds = &s
	}
	return res, nil
}

func (p *attentionProbe) result() Result {
	kept := p.cfg
	kept.Workers, kept.Progress, kept.Now = 0, nil, nil
	res := Result{
		Version: FormatVersion, Probe: ProbeAttention, Seed: p.cfg.Seed,
		Config: Setup{Attention: &kept}, Inputs: p.scales[:],
	}
	for i, d := range p.cfg.Designs {
		o := p.tallies[i].outcome(d.Name(), p.cfg.Gate)
		if d.P != F32 {
			o = o.packing(p.tallies[i])
		}
		res.Designs = append(res.Designs, o)
	}
	return res
}

// softmaxScale is 1/sqrt(D).
func (s Shape) softmaxScale() float64 { return 1 / math.Sqrt(float64(s.HeadDim)) }
