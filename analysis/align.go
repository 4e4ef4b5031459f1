package analysis

import "slices"

// Align finds what two sequences have in common, in order, as pairs of indexes.
// What is once in either sequence and in order anchors the rest (patience diff);
// between anchors it is the longest common subsequence, as far as that is found
// with few differences (Myers' O(ND)).
func Align[T comparable](a, b []T) [][2]int {
	var al alignment[T]
	al.align(a, b, 0, 0)
	return al.pairs
}

type alignment[T comparable] struct{ pairs [][2]int }

func (al *alignment[T]) pair(i, k, n int) {
	for d := range n {
		al.pairs = append(al.pairs, [2]int{i + d, k + d})
	}
}

// align aligns a and b, which begin at i and k of the whole.
func (al *alignment[T]) align(a, b []T, i, k int) {
	start := commonStart(a, b)
	al.pair(i, k, start)
	a, b, i, k = a[start:], b[start:], i+start, k+start
	end := commonEnd(a, b)
	a, b = a[:len(a)-end], b[:len(b)-end]
	if len(a) > 0 && len(b) > 0 {
		if anchors := anchorsOf(a, b); len(anchors) > 0 {
			al.between(a, b, i, k, anchors)
		} else {
			for _, p := range shortestEdit(a, b) {
				al.pair(i+p[0], k+p[1], 1)
			}
		}
	}
	al.pair(i+len(a), k+len(b), end)
}

// between aligns the stretches between anchors.
func (al *alignment[T]) between(a, b []T, i, k int, anchors [][2]int) {
	x, y := 0, 0
	for _, m := range append(anchors, [2]int{len(a), len(b)}) {
		al.align(a[x:m[0]], b[y:m[1]], i+x, k+y)
		if m[0] < len(a) {
			al.pair(i+m[0], k+m[1], 1)
		}
		x, y = m[0]+1, m[1]+1
	}
}

func commonStart[T comparable](a, b []T) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonEnd[T comparable](a, b []T) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// anchorsOf gives the elements that are once in a and once in b, the longest
// series of them that is in order in both.
func anchorsOf[T comparable](a, b []T) [][2]int {
	type once struct{ count, at int }
	inB := make(map[T]once, len(b))
	for k, e := range b {
		o := inB[e]
		inB[e] = once{o.count + 1, k}
	}
	inA := make(map[T]int, len(a))
	for _, e := range a {
		inA[e]++
	}
	var list [][2]int
	for i, e := range a {
		if o := inB[e]; o.count == 1 && inA[e] == 1 {
			list = append(list, [2]int{i, o.at})
		}
	}
	return longestRising(list)
}

// longestRising gives the longest series of pairs, ordered by their first, whose
// second ones rise too.
func longestRising(list [][2]int) [][2]int {
	var tops []int // of each length the pair that ends such a series lowest
	before := make([]int, len(list))
	for n, p := range list {
		at, _ := slices.BinarySearchFunc(tops, p[1], func(top, second int) int { return list[top][1] - second })
		if before[n] = -1; at > 0 {
			before[n] = tops[at-1]
		}
		if at == len(tops) {
			tops = append(tops, n)
		} else {
			tops[at] = n
		}
	}
	if len(tops) == 0 {
		return nil
	}
	series := make([][2]int, len(tops))
	for n, at := tops[len(tops)-1], len(tops)-1; at >= 0; n, at = before[n], at-1 {
		series[at] = list[n]
	}
	return series
}

// mostEdits bounds how many differences are looked for between two stretches
// that have no anchors: memory and time grow with its square.
const mostEdits = 800

// shortestEdit gives the pairs that a shortest edit script from a to b keeps;
// none if it has more than mostEdits edits.
func shortestEdit[T comparable](a, b []T) [][2]int {
	limit := min(len(a)+len(b), mostEdits)
	reach := make([]int, 2*limit+3) // by diagonal: how far in a
	var trace [][]int
	for d := 0; d <= limit; d++ {
		for diagonal := -d; diagonal <= d; diagonal += 2 {
			at := diagonal + limit + 1
			x := reach[at-1] + 1
			if diagonal == -d || diagonal != d && reach[at-1] < reach[at+1] {
				x = reach[at+1]
			}
			y := x - diagonal
			for x < len(a) && y < len(b) && x >= 0 && y >= 0 && a[x] == b[y] {
				x, y = x+1, y+1
			}
			reach[at] = x
			if x >= len(a) && y >= len(b) {
				return backtrack(trace, d, diagonal, len(a))
			}
		}
		trace = append(trace, slices.Clone(reach[limit+1-d:limit+2+d]))
	}
	return nil
}

// backtrack follows an edit script from its end; trace[d] holds how far its
// diagonals -d to d reached.
func backtrack(trace [][]int, d, diagonal, x int) [][2]int {
	var pairs [][2]int
	for ; d > 0; d-- {
		last := trace[d-1]
		reached := func(diagonal int) int {
			if at := diagonal + d - 1; at >= 0 && at < len(last) {
				return last[at]
			}
			return 0
		}
		from, start := diagonal-1, reached(diagonal-1)+1
		if diagonal == -d || diagonal != d && reached(diagonal-1) < reached(diagonal+1) {
			from, start = diagonal+1, reached(diagonal+1)
		}
		for ; x > start; x-- {
			pairs = append(pairs, [2]int{x - 1, x - 1 - diagonal})
		}
		if x = reached(from); from < diagonal {
			x = start - 1
		}
		diagonal = from
	}
	for ; x > 0; x-- {
		pairs = append(pairs, [2]int{x - 1, x - 1})
	}
	slices.Reverse(pairs)
	return pairs
}
