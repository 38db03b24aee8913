package numerics

// real are the element types of a product. Each product is converted to T before
// it is added: the language then forbids fusing the two roundings into one, so
// that all architectures compute the same bits.
type real interface{ float32 | float64 }

// panel is how much of the inner dimension is worked on at a time, so that a
// block's rows stay in the first-level cache. It does not change the order of
// the sums.
const panel = 128

// matrix is a row-major view; stride is the distance between rows in elements.
type matrix[T real] struct {
	data   []T
	stride int
}

// row gives n elements of row i from column k on.
func (m matrix[T]) row(i, k, n int) []T { return m.data[i*m.stride+k:][:n] }

// addProduct adds A x B^T to C, where A is m x k, B is n x k and C is m x n.
// Every element of C is summed in the order of the inner index.
// m is at most blockRows.
func addProduct[T real](c, a, b matrix[T], m, n, k int) {
	// Rows of A are often a power of two apart, which would put all of them in
	// the same few cache sets; a copy side by side does not.
	var near [blockRows * panel]T
	packed := matrix[T]{near[:], panel}
	for k0 := 0; k0 < k; k0 += panel {
		kn := min(panel, k-k0)
		for i := range m {
			copy(packed.row(i, 0, kn), a.row(i, k0, kn))
		}
		addPanel(c, packed, b, m, n, k0, kn)
	}
}

// addPanel adds kn products to each sum; those of B begin at k0.
func addPanel[T real](c, a, b matrix[T], m, n, k0, kn int) {
	j := 0
	for ; j+2 <= n; j += 2 {
		b0, b1 := b.row(j, k0, kn), b.row(j+1, k0, kn)
		i := 0
		for ; i+3 <= m; i += 3 {
			c0, c1, c2 := c.row(i, j, 2), c.row(i+1, j, 2), c.row(i+2, j, 2)
			s := [6]T{c0[0], c0[1], c1[0], c1[1], c2[0], c2[1]}
			dot3x2(a.row(i, 0, kn), a.row(i+1, 0, kn), a.row(i+2, 0, kn), b0, b1, &s)
			c0[0], c0[1], c1[0], c1[1], c2[0], c2[1] = s[0], s[1], s[2], s[3], s[4], s[5]
		}
		for ; i < m; i++ {
			ci, ai := c.row(i, j, 2), a.row(i, 0, kn)
			ci[0], ci[1] = dot(ai, b0, ci[0]), dot(ai, b1, ci[1])
		}
	}
	if j < n {
		bj := b.row(j, k0, kn)
		for i := range m {
			ci := c.row(i, j, 1)
			ci[0] = dot(a.row(i, 0, kn), bj, ci[0])
		}
	}
}

// dot3x2 continues six sums. Six are what fits the vector registers of amd64
// with their products: with eight the compiler keeps one sum in memory and the
// loop runs at less than half the speed.
func dot3x2[T real](a0, a1, a2, b0, b1 []T, s *[6]T) {
	n := len(a0)
	a1, a2, b0, b1 = a1[:n], a2[:n], b0[:n], b1[:n]
	s0, s1, s2, s3, s4, s5 := s[0], s[1], s[2], s[3], s[4], s[5]
	for p, v := range a0 {
		x, y := b0[p], b1[p]
		s0 += T(v * x)
		s1 += T(v * y)
		v = a1[p]
		s2 += T(v * x)
		s3 += T(v * y)
		v = a2[p]
		s4 += T(v * x)
		s5 += T(v * y)
	}
	*s = [6]T{s0, s1, s2, s3, s4, s5}
}

// dot continues one sum.
func dot[T real](a, b []T, s T) T {
	b = b[:len(a)]
	for p, v := range a {
		s += T(v * b[p])
	}
	return s
}

// apart is what the rows of a transposed matrix are longer than their content,
// so that they do not share cache sets.
const apart = 16

// transpose gives the columns of a rows x cols matrix as rows, at a distance of
// rows + apart.
func transpose[T real](src []T, rows, cols int) []T {
	stride := rows + apart
	dst := make([]T, cols*stride)
	for i := range rows {
		for j, v := range src[i*cols : (i+1)*cols] {
			dst[j*stride+i] = v
		}
	}
	return dst
}

// widen converts to float64, which is exact.
func widen(src []float32) []float64 {
	dst := make([]float64, len(src))
	for i, v := range src {
		dst[i] = float64(v)
	}
	return dst
}
