package numerics

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// GEMMConfig says which MXFP4 GEMM to compute: C[M,N] = A[M,K] x W[N,K]^T. A is
// drawn with standard deviation 1 (or from -1 to 1), W the same divided by
// sqrt(K), so that outputs are of the size of A. The zero value of a field means
// its default.
type GEMMConfig struct {
	M int `json:"m"`
	N int `json:"n"`
	K int `json:"k"`
	// Values is what A and W are drawn from; default normal.
	Values Distribution `json:"values"`
	// Output is the format of C; default bf16.
	Output Format `json:"output"`
	// Reference is what the gated errors are measured against; default
	// dequantised. The error against the original operands is reported in any
	// case, as Quantisation.
	Reference Reference `json:"reference"`
	// Designs default to DefaultGEMMDesigns.
	Designs []GEMMDesign `json:"designs"`
	// Gate defaults to MoEGate.
	Gate Gate   `json:"gate"`
	Seed uint64 `json:"seed"`

	// Workers, Progress and Now are as in AttentionConfig.
	Workers  int              `json:"-"`
	Progress func(Progress)   `json:"-"`
	Now      func() time.Time `json:"-"`
}

func (c GEMMConfig) withDefaults() GEMMConfig {
	if c.Values == "" {
		c.Values = Normal
	}
	if c.Output == noFormat {
		c.Output = BF16
	}
	if c.Reference == "" {
		c.Reference = Dequantised
	}
	if c.Designs == nil {
		c.Designs = DefaultGEMMDesigns()
	}
	c.Designs = slices.Clone(c.Designs)
	if c.Gate.empty() {
		c.Gate = MoEGate()
	}
	c.Workers = workerCount(c.Workers)
	return c
}

// Check reports everything that is wrong with the configuration, one error a
// line, after defaults are filled in. MXFP4GEMM calls it.
func (c GEMMConfig) Check() error { return c.withDefaults().check() }

func (c GEMMConfig) check() error {
	const maxSide, maxOperand = 1 << 20, 1 << 26
	var all []error
	for _, f := range []struct {
		name string
		v    int
	}{{"M", c.M}, {"N", c.N}, {"K", c.K}} {
		if f.v < 1 || f.v > maxSide {
			all = append(all, fmt.Errorf("%s is %d, want 1 to %d", f.name, f.v, maxSide))
		}
	}
	switch {
	case len(all) > 0:
	case c.K%mxBlock != 0:
		all = append(all, fmt.Errorf("shape: K is %d, want a multiple of %d: scales are per 1x%d", c.K, mxBlock, mxBlock))
	case c.M*c.K > maxOperand || c.N*c.K > maxOperand || c.M*c.N > maxOperand:
		all = append(all, fmt.Errorf("shape: M x K, N x K or M x N is above %d elements", maxOperand))
	}
	if !c.Output.valid() {
		all = append(all, errors.New("output: no such format"))
	}
	_, err := choose("values", string(c.Values), Normal, Uniform)
	all = append(all, err)
	_, err = choose("reference", string(c.Reference), Dequantised, Original)
	all = append(all, err, c.Gate.check())
	if len(c.Designs) == 0 || len(c.Designs) > maxDesigns {
		all = append(all, fmt.Errorf("designs: %d given, want 1 to %d", len(c.Designs), maxDesigns))
		return errors.Join(all...)
	}
	seen := map[string]bool{}
	for _, d := range c.Designs {
		if err := d.check(); err != nil {
			all = append(all, fmt.Errorf("design: %w", err))
		}
		if seen[d.Name()] {
			all = append(all, fmt.Errorf("design %s: given twice", d.Name()))
		}
		seen[d.Name()] = true
	}
	return errors.Join(all...)
}

// gemmRows is how many rows of A are worked on together. Partial sums are
// merged block by block, so changing it can change the last digits of
// LogitsDiff.
const gemmRows = 12

// MXFP4GEMM computes the product for every design, sums in f32, and measures it
// against f64 products. The error is Check's, the context's, or a panic that
// was caught.
func MXFP4GEMM(ctx context.Context, cfg GEMMConfig) (Result, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return Result{}, fmt.Errorf("MXFP4 GEMM probe: %w", err)
	}
	var start time.Time
	if cfg.Now != nil {
		start = cfg.Now()
	}
	res, err := runGEMM(ctx, cfg)
	if err != nil {
		return Result{}, fmt.Errorf("MXFP4 GEMM probe M%d N%d K%d: %w", cfg.M, cfg.N, cfg.K, err)
	}
	if cfg.Now != nil {
		s := cfg.Now().Sub(start).Seconds()
		res.ElapsedSeconds = &s
	}
	return res, nil
}

func runGEMM(ctx context.Context, cfg GEMMConfig) (Result, error) {
	kept := cfg
	kept.Workers, kept.Progress, kept.Now = 0, nil, nil
	res := Result{Version: FormatVersion, Probe: ProbeMXFP4GEMM, Seed: cfg.Seed, Config: Setup{GEMM: &kept}}
	p := &gemmProbe{cfg: cfg, output: newRounder(cfg.Output)}
	p.ticks.report = cfg.Progress
	p.ticks.p.Total = blocks(cfg.M, gemmRows) * (len(cfg.Designs) + 1)
	p.draw()
	if err := p.exact(ctx); err != nil {
		return Result{}, err
	}
	for _, d := range cfg.Designs {
		o, err := p.design(ctx, d)
		if err != nil {
			return Result{}, err
		}
		res.Designs = append(res.Designs, o)
	}
	return res, nil
}

// gemmProbe is one run of MXFP4GEMM. truth is the f64 product of the original
// operands.
type gemmProbe struct {
	cfg    GEMMConfig
	output rounder
	a, w   []float32
	truth  []float64
	ticks  ticker
}

func (p *gemmProbe) draw() {
	p.a = draw(p.cfg.Seed, streamA, 0, p.cfg.M*p.cfg.K, p.cfg.Values)
	p.w = draw(p.cfg.Seed, streamW, 0, p.cfg.N*p.cfg.K, p.cfg.Values)
	by := float32(1 / math.Sqrt(float64(p.cfg.K)))
	for i := range p.w {
		p.w[i] *= by
	}
}

// rows calls do for each block of rows.
func (p *gemmProbe) rows(ctx context.Context, do func(block, row0, rows int)) error {
	return forEach(ctx, p.cfg.Workers, blocks(p.cfg.M, gemmRows), func(_, item int) {
		row0 := item * gemmRows
		do(item, row0, min(gemmRows, p.cfg.M-row0))
		p.ticks.tick()
	})
}

func (p *gemmProbe) exact(ctx context.Context) error {
	n, k := p.cfg.N, p.cfg.K
	p.truth = make([]float64, p.cfg.M*n)
	a, w := widen(p.a), widen(p.w)
	return p.rows(ctx, func(_, row0, rows int) {
		addProduct(matrix[float64]{p.truth[row0*n:], n}, matrix[float64]{a[row0*k:], k}, matrix[float64]{w, k}, rows, n, k)
	})
}

// design measures one design. What is packed is reported against the packed
// operands (the arithmetic's error) and against the original ones (the
// format's).
func (p *gemmProbe) design(ctx context.Context, d GEMMDesign) (Outcome, error) {
	n, k := p.cfg.N, p.cfg.K
	fp4, activations := newRounder(E2M1), newRounder(d.A)
	w := packMX(p.w, k, &fp4, d.Scale)
	var a []float32
	if d.A == BF16 {
		a = pack(p.a, 1, &activations)
	} else {
		a = packMX(p.a, k, &activations, d.Scale)
	}
	a64, w64 := widen(a), widen(w)
	count := blocks(p.cfg.M, gemmRows)
	arithmetic, quantisation := make([]tally, count), make([]tally, count)
	err := p.rows(ctx, func(block, row0, rows int) {
		out, exact := make([]float32, rows*n), make([]float64, rows*n)
		addProduct(matrix[float32]{out, n}, matrix[float32]{a[row0*k:], k}, matrix[float32]{w, k}, rows, n, k)
		addProduct(matrix[float64]{exact, n}, matrix[float64]{a64[row0*k:], k}, matrix[float64]{w64, k}, rows, n, k)
		for i, v := range out {
			out[i] = p.output.round(v)
		}
		ta, tq := newTally(), newTally()
		for r := range rows {
			at := Place{Row: row0 + r}
			ta.row(at, out[r*n:(r+1)*n], exact[r*n:(r+1)*n])
			tq.row(at, out[r*n:(r+1)*n], p.truth[(row0+r)*n:(row0+r+1)*n])
		}
		arithmetic[block], quantisation[block] = ta, tq
	})
	if err != nil {
		return Outcome{}, err
	}
	ta, tq := newTally(), newTally()
	for i := range arithmetic {
		ta.merge(arithmetic[i])
		tq.merge(quantisation[i])
	}
	q := tq.errors()
	if p.cfg.Reference == Original {
		ta = tq
	}
	o := ta.outcome(d.Name(), p.cfg.Gate)
	diff := ta.errors().LogitsDiff
	o.LogitsDiff, o.Quantisation = &diff, &q
	return o, nil
}
