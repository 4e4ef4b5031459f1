package analysis

import "github.com/retake-debugger/retake/transcript"

// ownCalls pairs calls that are the same but for their ids, as parallel ones are, by
// their ids where the order allows it: of two equal calls the one whose result was
// changed stays the one that differs. One pair makes room for the next, so it goes
// back and forth.
func ownCalls(pairs [][2]int, a, b []Act, keysA, keysB []transcript.Key) {
	own := func(n int) {
		from, p, end := [2]int{-1, -1}, &pairs[n], [2]int{len(a), len(b)}
		if n > 0 {
			from = pairs[n-1]
		}
		if n+1 < len(pairs) {
			end = pairs[n+1]
		}
		idA, idB := a[p[0]].Item.CallID, b[p[1]].Item.CallID
		if idA == idB {
			return
		}
		for i := from[0] + 1; i < end[0]; i++ {
			if keysA[i] == keysA[p[0]] && a[i].Item.CallID == idB {
				p[0] = i
				return
			}
		}
		for k := from[1] + 1; k < end[1]; k++ {
			if keysB[k] == keysB[p[1]] && b[k].Item.CallID == idA {
				p[1] = k
				return
			}
		}
	}
	for n := range pairs {
		own(len(pairs) - 1 - n)
	}
	for n := range pairs {
		own(n)
	}
}
