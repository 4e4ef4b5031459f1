package replay

import (
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// NewErrors returns what lint calls an error in the edited request and not in the
// recorded one. An edit may move what was wrong before.
func (r *Request) NewErrors() []lint.Finding {
	if len(r.Edits) == 0 {
		return nil
	}
	now, err := r.decoded()
	if err != nil {
		return nil
	}
	return newErrors(r.before().errors(), now.errors())
}

// newErrors returns the findings that were not there before. What was may have moved.
func newErrors(before, now []lint.Finding) (found []lint.Finding) {
	type fault struct{ code, callID string }
	type place struct{ code, at string }
	known, places := map[fault]int{}, map[place]bool{}
	for _, f := range before {
		known[fault{f.Code, f.CallID}]++
		places[place{f.Code, f.At}] = true
	}
	for _, f := range now {
		if places[place{f.Code, f.At}] {
			known[fault{f.Code, f.CallID}]--
		}
	}
	for _, f := range now {
		if places[place{f.Code, f.At}] {
			continue
		}
		if k := (fault{f.Code, f.CallID}); known[k] > 0 {
			known[k]--
			continue
		}
		found = append(found, f)
	}
	return found
}

// lint returns what lint calls an error in a request body.
func (d *decoded) lint() (list []lint.Finding) {
	for _, f := range lint.Exchange(lint.Step{Exchange: &transcript.Exchange{Dialect: d.speaks}, Turn: d.turn()}, nil) {
		if f.Severity == lint.Error {
			list = append(list, f)
		}
	}
	return list
}
