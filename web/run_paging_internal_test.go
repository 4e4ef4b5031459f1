package web

import (
	"slices"
	"testing"
)

func TestPaging_HeavyStepsAreFewToAPage(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		name    string
		weights []int64
		starts  []int
	}{
		{"light steps fill pages of a hundred", make([]int64, 250), []int{0, 100, 200}},
		{"one that is too heavy stands alone", []int64{1, 20 * mb, 1, 1}, []int{0, 1, 2}},
		{"heavy ones share pages as far as they fit", []int64{5 * mb, 5 * mb, 5 * mb, 5 * mb, 5 * mb}, []int{0, 2, 4}},
		{"no steps, no pages", nil, nil},
	} {
		p := paging{weights: c.weights}
		for at := 0; at < len(c.weights); at = p.end(at) {
			p.starts = append(p.starts, at)
		}
		if !slices.Equal(p.starts, c.starts) {
			t.Errorf("%s: pages begin at %v, want %v", c.name, p.starts, c.starts)
		}
		for i := range c.weights {
			if from := p.start(i); from > i || p.end(from) <= i {
				t.Errorf("%s: step %d is not on the page from %d to %d", c.name, i, from, p.end(from))
			}
		}
	}
}
