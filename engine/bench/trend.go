package bench

import "math"

// TrendLine is how one regime moved over sets of rows. Points has one value per
// set: the geometric mean of us(set)/us(base) over the cells that pass in both,
// not OK where less than half of the base's cells do. It shows a direction and
// carries no test: single sets have no interval.
type TrendLine struct {
	Regime string
	// Cells counts the base's cells.
	Cells  int
	Points []Num
}

// Trend gives a line per regime of base, in order of first appearance. regime
// names the group of a row; nil groups as Compare does.
func Trend(base []Row, sets [][]Row, regime func(*Row) string) []TrendLine {
	if regime == nil {
		regime = DefaultRegime
	}
	type cell struct {
		line int
		log  float64
	}
	cells := map[string]cell{}
	at := map[string]int{}
	var lines []TrendLine
	for i := range base {
		r := &base[i]
		key := trendKey(r)
		if _, twice := cells[key]; twice || !hasTime(r) {
			continue
		}
		name := regime(r)
		k, ok := at[name]
		if !ok {
			k = len(lines)
			at[name] = k
			lines = append(lines, TrendLine{Regime: name})
		}
		lines[k].Cells++
		cells[key] = cell{k, math.Log(r.US.V)}
	}
	for _, rows := range sets {
		sum, n := make([]float64, len(lines)), make([]int, len(lines))
		seen := make(map[string]bool, len(rows))
		for i := range rows {
			key := trendKey(&rows[i])
			c, ok := cells[key]
			if !ok || seen[key] || !hasTime(&rows[i]) {
				continue
			}
			seen[key] = true
			sum[c.line] += math.Log(rows[i].US.V) - c.log
			n[c.line]++
		}
		for k := range lines {
			p := Num{}
			if 2*n[k] >= lines[k].Cells {
				p = Of(math.Exp(sum[k] / float64(n[k])))
			}
			lines[k].Points = append(lines[k].Points, p)
		}
	}
	return lines
}

func trendKey(r *Row) string { return r.Section + "\x00" + r.Key }

// hasTime reports whether a row's time means something.
func hasTime(r *Row) bool { return r.Status == Pass && r.US.OK && r.US.V > 0 }
