package numerics

import "context"

// blockRows is how many query rows are worked on together. It does not change
// the result.
const blockRows = 48

// The operands, in the order of attentionProbe.scales.
const (
	opQ = iota
	opK
	opV
	operands
)

// attentionProbe is one run of Attention.
type attentionProbe struct {
	cfg     AttentionConfig
	packer  rounder
	output  rounder
	pack    []rounder // one per design
	tensor  [operands]float32
	scales  [operands]InputScale
	scratch []*blockScratch
	tallies []tally
	ticks   ticker
}

// operand is one head of Q, K or V: values of codes, the f64 operand of the
// reference, and the scales both are multiplied with.
type operand struct {
	codes []float32
	ref   []float64
	scale float32
	refBy float64
}

// kvGroup is one key and value head with the query heads that share it. v is
// transposed: one row per column of the head.
type kvGroup struct {
	batch, firstHead int
	q                []operand
	k, v             operand
}

func newAttentionProbe(ctx context.Context, cfg AttentionConfig) (*attentionProbe, error) {
	p := &attentionProbe{
		cfg: cfg, packer: newRounder(cfg.Inputs), output: newRounder(cfg.Output),
		scales:  [operands]InputScale{{Name: "q"}, {Name: "k"}, {Name: "v"}},
		tensor:  [operands]float32{1, 1, 1},
		scratch: make([]*blockScratch, cfg.Workers),
	}
	for _, d := range cfg.Designs {
		p.pack = append(p.pack, newRounder(d.P))
		p.tallies = append(p.tallies, newTally())
	}
	p.ticks.report = cfg.Progress
	p.ticks.p.Total = cfg.Shape.Batch * cfg.Shape.Heads * blocks(cfg.Shape.SeqLen, blockRows)
	if cfg.Scales != PerTensor {
		return p, nil
	}
	return p, p.tensorScales(ctx)
}

// blocks is the number of blocks of size that cover n.
func blocks(n, size int) int { return (n + size - 1) / size }

// heads is the number of heads of an operand in one batch entry.
func (p *attentionProbe) heads(op int) int {
	if op == opQ {
		return p.cfg.Shape.Heads
	}
	return p.cfg.Shape.KVHeads
}

func (p *attentionProbe) draw(op, head int) []float32 {
	s := p.cfg.Shape
	return draw(p.cfg.Seed, streamQ+op, head, s.SeqLen*s.HeadDim, p.cfg.Values)
}

// tensorScales looks at every input once. Heads are drawn again later instead of
// being kept: a large shape would not fit in memory.
func (p *attentionProbe) tensorScales(ctx context.Context) error {
	for op := range operands {
		n := p.cfg.Shape.Batch * p.heads(op)
		found := make([]float32, n)
		err := forEach(ctx, p.cfg.Workers, n, func(_, head int) { found[head] = largest(p.draw(op, head)) })
		if err != nil {
			return err
		}
		p.tensor[op] = scaleFor(largest(found), p.cfg.Inputs)
	}
	return nil
}

// run goes through the key and value heads one after the other and shares the
// rows of each out to the workers.
func (p *attentionProbe) run(ctx context.Context) error {
	s := p.cfg.Shape
	group := s.Heads / s.KVHeads
	perHead := blocks(s.SeqLen, blockRows)
	for bh := range s.Batch * s.KVHeads {
		g, err := p.load(ctx, bh, group)
		if err != nil {
			return err
		}
		found := make([][]tally, group*perHead)
		err = forEach(ctx, p.cfg.Workers, len(found), func(w, item int) {
			if p.scratch[w] == nil {
				p.scratch[w] = newBlockScratch(s)
			}
			found[item] = p.block(p.scratch[w], g, item/perHead, item%perHead*blockRows)
			p.ticks.tick()
		})
		if err != nil {
			return err
		}
		for _, block := range found {
			for i, t := range block {
				p.tallies[i].merge(t)
			}
		}
	}
	return nil
}

// load draws and packs one key and value head and its query heads.
func (p *attentionProbe) load(ctx context.Context, bh, group int) (*kvGroup, error) {
	s := p.cfg.Shape
	g := &kvGroup{batch: bh / s.KVHeads, firstHead: bh % s.KVHeads * group, q: make([]operand, group)}
	err := forEach(ctx, p.cfg.Workers, group+2, func(_, item int) {
		switch item {
		case 0:
			g.k = p.operand(opK, bh)
		case 1:
			v := p.operand(opV, bh)
			v.codes = transpose(v.codes, s.SeqLen, s.HeadDim)
			v.ref = transpose(v.ref, s.SeqLen, s.HeadDim)
			g.v = v
		default:
			g.q[item-2] = p.operand(opQ, g.batch*s.Heads+g.firstHead+item-2)
		}
	})
	if err != nil {
		return nil, err
	}
	p.scales[opK].spread(g.k.scale)
	p.scales[opV].spread(g.v.scale)
	for _, q := range g.q {
		p.scales[opQ].spread(q.scale)
	}
	return g, nil
}

func (p *attentionProbe) operand(op, head int) operand {
	values := p.draw(op, head)
	o := operand{scale: p.tensor[op]}
	if p.cfg.Scales == PerHead {
		o.scale = scaleFor(largest(values), p.cfg.Inputs)
	}
	o.codes = pack(values, o.scale, &p.packer)
	if p.cfg.Reference == Original {
		o.ref, o.refBy = widen(values), 1
	} else {
		o.ref, o.refBy = widen(o.codes), float64(o.scale)
	}
	return o
}
