package replay

import (
	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// NewErrors gives what a provider would refuse, or take ill, in the edited request
// and not in the recorded one. An edit may move what was wrong before.
func (r *Request) NewErrors() []lint.Finding {
	if len(r.Edits) == 0 {
		return nil
	}
	return newErrors(judge(r.Origin.Dialect, r.Recorded), judge(r.Speaks(), r.Body))
}

// newErrors gives the findings that were not there before. What was may have moved.
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

// judge gives the errors of a request body.
func judge(d transcript.Dialect, body []byte) (list []lint.Finding) {
	turn := dialect.Decode(d, &dialect.Wire{Method: "POST", Request: body})
	for _, f := range lint.Exchange(lint.Step{Exchange: &transcript.Exchange{Dialect: d}, Turn: turn}, nil) {
		if f.Severity == lint.Error {
			list = append(list, f)
		}
	}
	return list
}
