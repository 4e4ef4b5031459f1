package effect

import (
	"math"
	"slices"
)

// Fisher returns how likely two arms that do not differ are to come out as far
// apart as these: the two-sided exact test, which adds up all tables with the
// same sums that are no likelier than this one. 1 if an arm has no takes.
func Fisher(a, b Arm) float64 {
	if a.N <= 0 || b.N <= 0 {
		return 1
	}
	yes, n := a.Yes+b.Yes, a.N+b.N
	log := func(k int) float64 { // of the table with k in the first arm
		return choose(a.N, k) + choose(b.N, yes-k) - choose(n, yes)
	}
	const rounding = 1e-7
	limit := log(a.Yes) + rounding
	p := 0.0
	for k := max(0, yes-b.N); k <= min(a.N, yes); k++ {
		if l := log(k); l <= limit {
			p += math.Exp(l)
		}
	}
	return min(1, p)
}

// choose returns the logarithm of n over k.
func choose(n, k int) float64 { return factorial(n) - factorial(k) - factorial(n-k) }

func factorial(n int) float64 {
	l, _ := math.Lgamma(float64(n) + 1)
	return l
}

// Holm corrects the p of several outcomes that were looked at, in their order:
// the chance that any of them seems to differ by accident stays that of one (S.
// Holm, 1979).
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case p[i] < p[j]:
			return -1
		case p[i] > p[j]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(p))
	highest := 0.0
	for rank, i := range order {
		highest = max(highest, min(1, float64(len(p)-rank)*p[i]))
		out[i] = highest
	}
	return out
}
