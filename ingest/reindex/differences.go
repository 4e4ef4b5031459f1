package reindex

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// differences names what the draft says otherwise than what is stored.
func (d *draft) differences(ctx context.Context, r transcript.Reader) ([]string, error) {
	calls, err := r.Calls(ctx, []string{d.old.ID})
	if err != nil {
		return nil, err
	}
	stored, err := r.IntroducedResults(ctx, d.old.ID)
	if err != nil {
		return nil, err
	}
	old, now := d.old, d.exchange
	var names []string
	for _, part := range []struct {
		name string
		same bool
	}{
		{"dialect", old.Dialect == now.Dialect},
		{"outcome", old.Outcome == now.Outcome && equal(old.Error, now.Error) && old.Complete == now.Complete && sameEnding(old.TransportEnding, now.TransportEnding)},
		{"answer", old.Stream == now.Stream && old.Model == now.Model && old.ResponseModel == now.ResponseModel &&
			old.ResponseID == now.ResponseID && old.FinishReason == now.FinishReason},
		{"decoding", old.Request.DecodeError == now.Request.DecodeError && old.Response.DecodeError == now.Response.DecodeError},
		{"timing", old.Timing.FirstToken.Truncate(time.Microsecond) == now.Timing.FirstToken && old.Timing.Events == now.Timing.Events},
		{"usage", sameUsage(old.Usage, now.Usage)},
		{"preview", old.Preview == now.Preview},
		{"warnings", slices.Equal(old.Warnings, now.Warnings)},
		{"chain", old.Link.InNode == now.Link.InNode && old.Link.OutNode == now.Link.OutNode &&
			old.Link.InLen == now.Link.InLen && old.Link.OutLen == now.Link.OutLen},
		{"link", !d.needsRun && d.newAgent == nil && d.parentCall == nil && old.Tools == now.Tools && sameLink(old.Link, now.Link)},
		{"calls", old.Calls == now.Calls && slices.EqualFunc(calls, d.calls, sameCall)},
		{"results", old.Results == now.Results && sameResults(stored, d.introduced)},
	} {
		if !part.same {
			names = append(names, part.name)
		}
	}
	return names, nil
}

// unnoted returns the hints that are not stored: others find it by them.
func (d *draft) unnoted(ctx context.Context, r transcript.Reader) ([]transcript.Hint, error) {
	if len(d.hints) == 0 {
		return nil, nil
	}
	stored, err := r.Hints(ctx, d.old.ID)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(d.hints), func(c transcript.Hint) bool { return slices.Contains(stored, c) }), nil
}

// sameLink leaves the nodes to the chain.
func sameLink(a, b transcript.Link) bool {
	a.InNode, a.OutNode, a.InLen, a.OutLen = b.InNode, b.OutNode, b.InLen, b.OutLen
	return a == b
}

// equal compares what two pointers point at.
func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func sameUsage(a, b *transcript.Usage) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	x.CacheWrite1h, y.CacheWrite1h = nil, nil
	return x == y && equal(a.CacheWrite1h, b.CacheWrite1h)
}

func sameEnding(a, b *transcript.Ending) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Outcome == b.Outcome && equal(a.Error, b.Error)
}

func sameCall(a, b transcript.CallRow) bool {
	return a.At == b.At && a.Key == b.Key && a.CallID == b.CallID && a.Name == b.Name
}

// sameResults compares them in any order; two for the same call and place are one.
func sameResults(a, b []transcript.CallRow) bool {
	sorted := func(rows []transcript.CallRow) []introducedResult {
		list := flat(rows)
		slices.SortFunc(list, func(a, b introducedResult) int {
			return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.callAt, b.callAt), cmp.Compare(a.at, b.at))
		})
		return slices.CompactFunc(list, func(a, b introducedResult) bool { return a.call == b.call && a.callAt == b.callAt && a.at == b.at })
	}
	return slices.Equal(sorted(a), sorted(b))
}
