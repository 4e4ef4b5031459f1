package web

import (
	"sort"

	"github.com/retake-debugger/retake/view"
)

// pageWeight bounds the bytes of the steps on one page, unless a single step
// exceeds it. They are read before anything is shown.
const pageWeight = 12 << 20

// paging divides steps into pages.
type paging struct {
	weights []int64
	starts  []int // of the pages
}

func newPaging(r *view.Run, steps []*view.Step) paging {
	p := paging{weights: make([]int64, len(steps))}
	for i, s := range steps {
		if p.weights[i] += r.Weight(s); i > 0 {
			p.weights[i-1] += r.Weight(s) // it contains the results of the step before
		}
	}
	for at := 0; at < len(steps); at = p.end(at) {
		p.starts = append(p.starts, at)
	}
	return p
}

// end returns where the page ends that begins with that step.
func (p paging) end(from int) int {
	var sum int64
	for i := from; i < len(p.weights); i++ {
		if sum += p.weights[i]; i > from && (sum > pageWeight || i == from+stepsShown) {
			return i
		}
	}
	return len(p.weights)
}

// start returns where the page with that step begins.
func (p paging) start(i int) int {
	n := sort.SearchInts(p.starts, i+1)
	if n == 0 {
		return 0
	}
	return p.starts[n-1]
}
