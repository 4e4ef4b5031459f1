package files

import (
	"iter"

	"github.com/retake-debugger/retake/transcript"
)

// captures are the exchanges of a file, in the order in which they began.
type captures = iter.Seq2[*transcript.Capture, error]

// inTime merges the exchanges of several files in the order in which they began: the
// sub-agent of a call is found while the call is open.
func inTime(streams []captures) captures {
	if len(streams) == 1 {
		return streams[0]
	}
	return func(yield func(*transcript.Capture, error) bool) {
		next := make([]func() (*transcript.Capture, error, bool), len(streams))
		heads := make([]*transcript.Capture, len(streams))
		for i, s := range streams {
			n, stop := iter.Pull2(s)
			defer stop()
			next[i] = n
		}
		pull := func(i int) bool {
			c, err, ok := next[i]()
			if err != nil {
				yield(nil, err)
				return false
			}
			if heads[i] = nil; ok {
				heads[i] = c
			}
			return true
		}
		for i := range streams {
			if !pull(i) {
				return
			}
		}
		for {
			first := -1
			for i, c := range heads {
				if c != nil && (first < 0 || c.StartedAt.Before(heads[first].StartedAt)) {
					first = i
				}
			}
			if first < 0 || !yield(heads[first], nil) || !pull(first) {
				return
			}
		}
	}
}
