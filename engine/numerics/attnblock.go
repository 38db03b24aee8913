package numerics

import "math"

// blockScratch is one worker's memory: scores, their exponentials and packed
// probabilities of a block of rows, and its output.
type blockScratch struct {
	s, e, p []float32
	ref     []float64
	out     []float32
	refOut  []float64
	sum     [blockRows]float32
	highest [blockRows]float32
}

func newBlockScratch(s Shape) *blockScratch {
	rows := min(blockRows, s.SeqLen)
	wide, narrow := rows*s.SeqLen, rows*s.HeadDim
	return &blockScratch{
		s: make([]float32, wide), e: make([]float32, wide), p: make([]float32, wide),
		ref: make([]float64, wide),
		out: make([]float32, narrow), refOut: make([]float64, narrow),
	}
}

// block is a view of the rows a worker is at.
type block struct {
	*blockScratch
	g     *kvGroup
	q     operand
	row0  int
	rows  int
	keys  int // keys that any of the rows can see
	vStep int // distance between the rows of V transposed
	dim   int
	limit func(row int) int // keys that a row can see
}

// block computes a block of rows of one query head for all designs.
func (p *attentionProbe) block(sc *blockScratch, g *kvGroup, head, row0 int) []tally {
	s := p.cfg.Shape
	b := block{
		blockScratch: sc, g: g, q: g.q[head], row0: row0,
		rows: min(blockRows, s.SeqLen-row0), keys: s.SeqLen, vStep: s.SeqLen + apart, dim: s.HeadDim,
	}
	b.limit = func(int) int { return s.SeqLen }
	if p.cfg.Causal {
		b.keys = row0 + b.rows
		b.limit = func(i int) int { return row0 + i + 1 }
	}
	b.reference(s.softmaxScale())
	b.scores(s.softmaxScale())
	b.exponentials()
	found := make([]tally, len(p.cfg.Designs))
	for i, d := range p.cfg.Designs {
		t := newTally()
		clear(b.out)
		if d.KVTile > 0 {
			b.online(d, &p.pack[i], &t)
		} else {
			b.whole(d, &p.pack[i], &t)
		}
		for r := range b.rows {
			out := b.out[r*b.dim : (r+1)*b.dim]
			b.finish(d, out, b.sum[r], &p.output)
			t.row(Place{g.batch, g.firstHead + head, row0 + r}, out, b.refOut[r*b.dim:(r+1)*b.dim])
		}
		found[i] = t
	}
	return found
}

// reference is the whole computation in f64.
func (b *block) reference(scale float64) {
	clear(b.ref)
	clear(b.refOut)
	p := matrix[float64]{b.ref, b.keys}
	addProduct(p, matrix[float64]{b.q.ref[b.row0*b.dim:], b.dim}, matrix[float64]{b.g.k.ref, b.dim}, b.rows, b.keys, b.dim)
	by := b.q.refBy * b.g.k.refBy * scale
	var sums [blockRows]float64
	for r := range b.rows {
		row := p.row(r, 0, b.keys)
		seen := row[:b.limit(r)]
		top := math.Inf(-1)
		for i, v := range seen {
			seen[i] = v * by
			top = max(top, seen[i])
		}
		for i, v := range seen {
			seen[i] = math.Exp(v - top)
			sums[r] += seen[i]
		}
		clear(row[len(seen):])
	}
	out := matrix[float64]{b.refOut, b.dim}
	addProduct(out, p, matrix[float64]{b.g.v.ref, b.vStep}, b.rows, b.dim, b.keys)
	for r := range b.rows {
		for i, v := range out.row(r, 0, b.dim) {
			b.refOut[r*b.dim+i] = v / sums[r] * b.g.v.refBy
		}
	}
}

// scores are the f32 sums of products of codes, times one f32 factor.
func (b *block) scores(scale float64) {
	clear(b.s)
	s := matrix[float32]{b.s, b.keys}
	addProduct(s, matrix[float32]{b.q.codes[b.row0*b.dim:], b.dim}, matrix[float32]{b.g.k.codes, b.dim}, b.rows, b.keys, b.dim)
	by := float32(b.q.scale*b.g.k.scale) * float32(scale)
	for i, v := range b.s[:b.rows*b.keys] {
		b.s[i] = v * by
	}
}

// exponentials are exp(S-m) in f32 with the row's own maximum m. Keys a row can
// not see get zero.
func (b *block) exponentials() {
	for r := range b.rows {
		n := b.limit(r)
		s, e := b.s[r*b.keys:][:n], b.e[r*b.keys:][:b.keys]
		b.highest[r] = highest(s, float32(math.Inf(-1)))
		b.expInto(e[:n], s, b.highest[r])
		clear(e[n:])
	}
}

// sumFrom continues an f32 sum in index order.
func sumFrom(sum float32, values []float32) float32 {
	for _, v := range values {
		sum += v
	}
	return sum
}

func highest(s []float32, top float32) float32 {
	for _, v := range s {
		top = max(top, v)
	}
	return top
}

// expInto computes exp(s-top), each step rounded to f32.
func (b *block) expInto(e, s []float32, top float32) {
	for i, v := range s {
		e[i] = float32(math.Exp(float64(v - top)))
	}
}

// whole packs P with the final maximum and sum of each row.
func (b *block) whole(d Design, r *rounder, t *tally) {
	for i := range b.rows {
		e, p := b.e[i*b.keys:][:b.keys], b.p[i*b.keys:][:b.keys]
		b.sum[i] = sumFrom(0, e)
		if d.Normalised {
			packNormalised(p, e, b.sum[i], d.Scale, r, t)
		} else {
			packScaled(p, e, d.Scale, r, t)
		}
		if d.SumPacked {
			b.sum[i] = sumFrom(0, p) / d.Scale
		}
	}
	b.addPV(0, b.keys)
}

// online goes through the keys in tiles: the maximum so far is the base of the
// exponentials, and sum and output are rescaled whenever it rises.
func (b *block) online(d Design, r *rounder, t *tally) {
	var top [blockRows]float32
	for i := range b.rows {
		top[i], b.sum[i] = float32(math.Inf(-1)), 0
	}
	e := make([]float32, min(d.KVTile, b.keys))
	for k0 := 0; k0 < b.keys; k0 += d.KVTile {
		kn := min(d.KVTile, b.keys-k0)
		for i := range b.rows {
			p := b.p[i*b.keys+k0:][:kn]
			n := min(kn, b.limit(i)-k0)
			if n <= 0 { // the row sees none of this tile
				clear(p)
				continue
			}
			s := b.s[i*b.keys+k0:][:n]
			was := top[i]
			top[i] = highest(s, was)
			if was != top[i] {
				b.rescale(i, float32(math.Exp(float64(was-top[i]))))
			}
			b.expInto(e[:n], s, top[i])
			packScaled(p[:n], e[:n], d.Scale, r, t)
			clear(p[n:])
			if d.SumPacked {
				b.sum[i] += sumFrom(0, p[:n]) / d.Scale
			} else {
				b.sum[i] = sumFrom(b.sum[i], e[:n])
			}
		}
		b.addPV(k0, kn)
	}
}

func (b *block) rescale(row int, by float32) {
	b.sum[row] *= by
	out := b.out[row*b.dim:][:b.dim]
	for i := range out {
		out[i] *= by
	}
}

// addPV adds P times V over kn keys from k0 on.
func (b *block) addPV(k0, kn int) {
	addProduct(matrix[float32]{b.out, b.dim}, matrix[float32]{b.p[k0:], b.keys},
		matrix[float32]{b.g.v.codes[k0:], b.vStep}, b.rows, b.dim, kn)
}

// finish divides out what P was multiplied with, applies V's scale and rounds to
// the output format.
func (b *block) finish(d Design, out []float32, sum float32, r *rounder) {
	by := d.Scale
	if !d.Normalised {
		by *= sum
	}
	for i, v := range out {
		out[i] = r.round(float32(v/by) * b.g.v.scale)
	}
}

func packScaled(p, e []float32, scale float32, r *rounder, t *tally) {
	for i, v := range e {
		p[i] = packOne(v, v*scale, r, t)
	}
}

func packNormalised(p, e []float32, sum, scale float32, r *rounder, t *tally) {
	for i, v := range e {
		p[i] = packOne(v, float32(v/sum)*scale, r, t)
	}
}

// packOne rounds one scaled probability; was is the exponential it came from.
func packOne(was, scaled float32, r *rounder, t *tally) float32 {
	if was == 0 {
		return 0
	}
	v := r.round(scaled)
	t.positive++
	if v == 0 {
		t.flushed++
	}
	if scaled > r.max {
		t.saturated++
	}
	return v
}
