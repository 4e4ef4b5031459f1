package effect

import "math"

// z95 is what a standard normal value exceeds on either side in 5 of 100 cases.
const z95 = 1.959963984540054

// Arm counts how often something happened in n takes.
type Arm struct{ Yes, N int }

// Share is how often it happened, 0 without takes.
func (a Arm) Share() float64 {
	if a.N <= 0 {
		return 0
	}
	return float64(a.Yes) / float64(a.N)
}

// Wilson returns the interval in which the true share of an arm lies in about 95
// of 100 cases (E. B. Wilson, 1927); 0 and 1 without takes.
func Wilson(a Arm) (low, high float64) {
	if a.N <= 0 {
		return 0, 1
	}
	n, p := float64(a.N), a.Share()
	middle := (p + z95*z95/(2*n)) / (1 + z95*z95/n)
	half := z95 / (1 + z95*z95/n) * math.Sqrt(p*(1-p)/n+z95*z95/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}

// Newcombe returns the interval in which the true difference of two shares, a less
// b, lies in about 95 of 100 cases: the hybrid of their Wilson intervals (R. G.
// Newcombe, 1998, method 10). It never leaves -1 to 1. -1 and 1 if an arm has no
// takes.
func Newcombe(a, b Arm) (low, high float64) {
	if a.N <= 0 || b.N <= 0 {
		return -1, 1
	}
	pa, pb := a.Share(), b.Share()
	lowA, highA := Wilson(a)
	lowB, highB := Wilson(b)
	d := pa - pb
	return max(-1, d-math.Hypot(pa-lowA, highB-pb)), min(1, d+math.Hypot(highA-pa, pb-lowB))
}
