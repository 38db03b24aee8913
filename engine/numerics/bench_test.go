package numerics

import (
	"context"
	"testing"
)

// BenchmarkAttentionDefault is the customer's figure: B1 H8 S2048 D128 with the
// default designs, below 10 s on two cores.
func BenchmarkAttentionDefault(b *testing.B) {
	cfg, err := Flags{}.Attention()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Attention(context.Background(), cfg); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMXFP4GEMMDefault(b *testing.B) {
	cfg, err := Flags{}.GEMM()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := MXFP4GEMM(context.Background(), cfg); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkProduct counts multiply-adds as bytes: MB/s reads as million
// multiply-adds a second on one core.
func BenchmarkProduct(b *testing.B) {
	const n, k = 512, 512
	b.Run("f32", func(b *testing.B) { benchProduct[float32](b, n, k) })
	b.Run("f64", func(b *testing.B) { benchProduct[float64](b, n, k) })
}

func benchProduct[T real](b *testing.B, n, k int) {
	a, w, c := make([]T, blockRows*k), make([]T, n*k), make([]T, blockRows*n)
	b.SetBytes(int64(blockRows * n * k))
	for b.Loop() {
		addProduct(matrix[T]{c, n}, matrix[T]{a, k}, matrix[T]{w, k}, blockRows, n, k)
	}
}

func BenchmarkRound(b *testing.B) {
	values := draw(1, streamQ, 0, 4096, Normal)
	for _, f := range []Format{BF16, FP16, E4M3FN, E5M2, E2M1} {
		b.Run(f.String(), func(b *testing.B) {
			r := newRounder(f)
			b.SetBytes(int64(len(values)))
			for b.Loop() {
				for i, v := range values {
					values[i] = r.round(v)
				}
			}
		})
	}
}
