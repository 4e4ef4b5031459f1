package effect

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b, by float64) bool { return math.Abs(a-b) <= by }

// The examples of Newcombe's paper (Statistics in Medicine 17, 1998, table II,
// method 10).
func TestNewcombe_GivesThePublishedIntervals(t *testing.T) {
	for _, c := range []struct {
		a, b      Arm
		low, high float64
	}{
		{Arm{56, 70}, Arm{48, 80}, 0.0524, 0.3339},
		{Arm{9, 10}, Arm{3, 10}, 0.1705, 0.8090},
		{Arm{6, 7}, Arm{2, 7}, 0.0582, 0.8062},
		{Arm{5, 56}, Arm{0, 29}, -0.0381, 0.1926},
		{Arm{0, 10}, Arm{0, 20}, -0.1611, 0.2775},
		{Arm{0, 10}, Arm{0, 10}, -0.2775, 0.2775},
		{Arm{10, 10}, Arm{0, 20}, 0.6791, 1},
		{Arm{10, 10}, Arm{0, 10}, 0.6075, 1},
		{Arm{0, 0}, Arm{1, 2}, -1, 1},
	} {
		low, high := Newcombe(c.a, c.b)
		if !near(low, c.low, 1e-4) || !near(high, c.high, 1e-4) {
			t.Errorf("%v less %v: %.4f to %.4f, want %.4f to %.4f", c.a, c.b, low, high, c.low, c.high)
		}
	}
}

func TestFisher_GivesTheKnownValues(t *testing.T) {
	for _, c := range []struct {
		a, b Arm
		p    float64
	}{
		{Arm{3, 4}, Arm{1, 4}, 34.0 / 70}, // the lady tasting tea
		{Arm{1, 10}, Arm{11, 14}, 0.00275945618522009},
		{Arm{8, 10}, Arm{1, 6}, 0.0349650349650350},
		{Arm{5, 5}, Arm{0, 5}, 2.0 / 252},
		{Arm{2, 5}, Arm{2, 5}, 1},
		{Arm{0, 0}, Arm{1, 5}, 1},
	} {
		if p := Fisher(c.a, c.b); !near(p, c.p, 1e-9) {
			t.Errorf("%v and %v: p = %.12f, want %.12f", c.a, c.b, p, c.p)
		}
		if p, q := Fisher(c.a, c.b), Fisher(c.b, c.a); !near(p, q, 1e-12) {
			t.Errorf("%v and %v: p depends on the order", c.a, c.b)
		}
	}
}

func TestHolm_CorrectsAndKeepsTheOrder(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		if !near(got[i], want, 1e-12) {
			t.Errorf("p %d is %v, want %v", i, got[i], want)
		}
	}
	if got := Holm([]float64{0.7, 0.9}); got[0] != 1 || got[1] != 1 {
		t.Errorf("p over 1: %v", got)
	}
}

func TestCompare_SaysItInWords(t *testing.T) {
	for _, c := range []struct {
		edited, control Arm
		want            string
	}{
		{Arm{10, 10}, Arm{0, 10}, "the edit did something"},
		{Arm{0, 20}, Arm{15, 20}, "the edit did something"},
		{Arm{10, 10}, Arm{10, 10}, "no sign that it did: a difference of more than 28 points is unlikely"},
		{Arm{26, 50}, Arm{25, 50}, "no sign that it did: a difference of more than 21 points is unlikely"},
		{Arm{6, 10}, Arm{3, 10}, "open: about 49 takes an arm would be needed to tell"},
		{Arm{2, 2}, Arm{0, 2}, "open: about 4 takes an arm would be needed to tell"},
		{Arm{}, Arm{0, 2}, "open: an arm has no takes"},
	} {
		if got := Compare(c.edited, c.control).String(); got != c.want {
			t.Errorf("%v against %v: %q, want %q", c.edited, c.control, got, c.want)
		}
	}
}

// What is said to be needed tells apart what it is said of in about 80 of 100
// cases.
func TestNeeded_IsEnough(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range [][2]float64{{0.6, 0.3}, {0.9, 0.5}, {0.2, 0.05}} {
		n, told := Needed(c[0], c[1]), 0
		const trials = 2000
		for range trials {
			if Fisher(draw(random, n, c[0]), draw(random, n, c[1])) <= alpha {
				told++
			}
		}
		if share := float64(told) / trials; share < 0.77 || share > 0.9 {
			t.Errorf("%v: with %d takes an arm %.3f are told apart, want about 0.8", c, n, share)
		}
	}
	if Needed(0.5, 0.5) != 0 {
		t.Error("equal shares are told apart")
	}
}

func draw(random *rand.Rand, n int, share float64) Arm {
	a := Arm{N: n}
	for range n {
		if random.Float64() < share {
			a.Yes++
		}
	}
	return a
}

// The interval holds the true difference in at least 94 of 100 trials, and where
// there is no difference at most 5.5 of 100 are taken for one: five seeds of
// 5,000 trials for each number of takes, true shares anywhere between 0 and 1.
func TestCompare_IsRightAsOftenAsItSays(t *testing.T) {
	const trials = 5000
	for _, n := range []int{10, 20, 50} {
		results := map[[2]int]Result{} // the same counts come up again and again
		compare := func(a, b Arm) Result {
			key := [2]int{a.Yes, b.Yes}
			r, ok := results[key]
			if !ok {
				r = Compare(a, b)
				results[key] = r
			}
			return r
		}
		for seed := range uint64(5) {
			random := rand.New(rand.NewPCG(seed, uint64(n)))
			held, falseEffects := 0, 0
			for range trials {
				p, q := random.Float64(), random.Float64()
				if r := compare(draw(random, n, p), draw(random, n, q)); r.Low <= p-q && p-q <= r.High {
					held++
				}
				if r := compare(draw(random, n, p), draw(random, n, p)); r.Verdict == Significant {
					falseEffects++
				}
			}
			coverage, wrong := 100*float64(held)/trials, 100*float64(falseEffects)/trials
			t.Logf("n %d, seed %d: coverage %.2f %%, false effects %.2f %%", n, seed, coverage, wrong)
			if coverage < 94 || wrong > 5.5 {
				t.Errorf("n %d, seed %d: coverage %.2f %%, want 94 or more; false effects %.2f %%, want 5.5 or fewer", n, seed, coverage, wrong)
			}
		}
	}
}
