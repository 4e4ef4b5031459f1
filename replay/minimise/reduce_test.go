package minimise_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/retake-debugger/retake/replay/minimise"
)

// holds reports whether all causes are among what is kept.
func holds(kept []int, causes ...int) bool {
	for _, c := range causes {
		if !slices.Contains(kept, c) {
			return false
		}
	}
	return true
}

func TestMinimise_FindsTheCauseAmongSixty(t *testing.T) {
	most := map[int]int{}
	find := func(causes ...int) {
		t.Helper()
		got, err := minimise.Reduce(context.Background(), 60, func(_ context.Context, kept []int) (bool, error) { return holds(kept, causes...), nil })
		if err != nil || !slices.Equal(got.Kept, causes) || !got.Least {
			t.Fatalf("%v: %+v %v", causes, got, err)
		}
		if most[len(causes)] = max(most[len(causes)], got.Asked); got.Asked > 60 {
			t.Errorf("%v: asked %d times", causes, got.Asked)
		}
	}
	for a := range 60 {
		find(a)
		for b := a + 1; b < 60; b++ {
			find(a, b)
		}
	}
	t.Logf("asked at most, by the number of causes: %v", most)
}

func TestMinimise_Many(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var causes []int
		for i := range 40 {
			if r.IntN(8) == 0 {
				causes = append(causes, i)
			}
		}
		got, err := minimise.Reduce(context.Background(), 40, func(_ context.Context, kept []int) (bool, error) { return holds(kept, causes...), nil })
		if err != nil || !slices.Equal(got.Kept, causes) || !got.Least {
			t.Fatalf("%v: %+v %v", causes, got, err)
		}
	}
}

// A behaviour that shows in most samples, not in all, is found by the majority of
// several.
func TestMinimise_WithANoisyModel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	wrong := 0
	for range 100 {
		cause := r.IntN(60)
		got, err := minimise.Reduce(context.Background(), 60, func(_ context.Context, kept []int) (bool, error) {
			yes := 0
			for range 7 {
				p := 0.05
				if holds(kept, cause) {
					p = 0.95
				}
				if r.Float64() < p {
					yes++
				}
			}
			return yes > 3, nil
		})
		if err != nil || !slices.Equal(got.Kept, []int{cause}) {
			wrong++
		}
	}
	if wrong > 5 {
		t.Errorf("%d of 100 wrong", wrong)
	}
}

func TestMinimise_Ends(t *testing.T) {
	ctx := context.Background()
	if _, err := minimise.Reduce(ctx, 9, func(context.Context, []int) (bool, error) { return false, nil }); !errors.Is(err, minimise.ErrNotShown) {
		t.Error(err)
	}
	if got, err := minimise.Reduce(ctx, 9, func(context.Context, []int) (bool, error) { return true, nil }); err != nil || len(got.Kept) != 0 || !got.Least {
		t.Errorf("%+v %v", got, err)
	}
	broken := errors.New("broken")
	if _, err := minimise.Reduce(ctx, 9, func(context.Context, []int) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	budget := 6
	got, err := minimise.Reduce(ctx, 60, func(_ context.Context, kept []int) (bool, error) {
		if budget--; budget < 0 {
			return false, minimise.ErrBudget
		}
		return holds(kept, 41), nil
	})
	if err != nil || got.Least || !holds(got.Kept, 41) || len(got.Kept) >= 60 {
		t.Errorf("%+v %v", got, err)
	}
}
