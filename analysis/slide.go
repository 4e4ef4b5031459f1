package analysis

import "github.com/retake-debugger/retake/transcript"

// meet slides a row of pairs where what lies apart on one side before it and on the
// other side behind it could as well face each other: of many equal calls one after
// the other the first was changed, and none was put before them and none taken away at
// their end.
func meet(pairs [][2]int, keysA, keysB []transcript.Key) {
	from := [2]int{-1, -1}
	for start := 0; start < len(pairs); {
		end := start + 1
		for end < len(pairs) && pairs[end][0] == pairs[end-1][0]+1 && pairs[end][1] == pairs[end-1][1]+1 {
			end++
		}
		to := [2]int{len(keysA), len(keysB)}
		if end < len(pairs) {
			to = pairs[end]
		}
		row := pairs[start:end]
		slideTo(row, from, to, keysA, keysB)
		from, start = row[len(row)-1], end
	}
}

func slideTo(row [][2]int, from, to [2]int, keysA, keysB []transcript.Key) {
	first, last := row[0], row[len(row)-1]
	n := (first[1] - from[1]) - (first[0] - from[0])
	if n == 0 || (to[0]-last[0])-(to[1]-last[1]) != n {
		return
	}
	side := 0
	if n < 0 {
		side, n = 1, -n
	}
	for _, p := range row {
		p[side] += n
		if keysA[p[0]] != keysB[p[1]] {
			return
		}
	}
	for i := range row {
		row[i][side] += n
	}
}
