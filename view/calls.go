package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// Call is one tool call in the audit table of a run or an exchange.
type Call struct {
	N           int              `json:"n"`        // its position in the transcript
	Step        string           `json:"step"`     // reference of the step, of a branch or of an exchange xN
	Agent       string           `json:"agent"`    // reference of the agent, "" for an exchange
	Exchange    string           `json:"exchange"` // id of the exchange that made the call, or contains it
	At          string           `json:"at"`
	CallID      string           `json:"call_id"`
	Name        string           `json:"name"`
	Arguments   string           `json:"arguments"` // as they were sent
	Result      *string          `json:"result"`    // nil if unknown
	ResultBytes int              `json:"result_bytes"`
	Parts       int              `json:"result_parts"` // parts of the result that are not text
	LatencyMS   *float64         `json:"latency_ms"`   // from the end of the answer to the request with the result
	State       transcript.State `json:"state"`        // "" of a call that the provider ran
	IsError     bool             `json:"is_error"`
	By          string           `json:"by"`
	ServerSide  bool             `json:"server_side"`
	Partial     bool             `json:"partial"` // the answer with the call is incomplete
	Sent        bool             `json:"sent"`    // a request contains the call, and no recorded answer made it: an example, or imported history
}

// Bad reports whether the call needs attention: it failed, has no result, or is a
// result without a call.
func (c *Call) Bad() bool {
	return c.IsError || c.State != transcript.Paired && c.State != ""
}

// Calls lists the calls of a run and its branches, in transcript order: those of
// the last attempt of each step. Replays are left out, as in all counts of a run.
func (r *Run) Calls(ctx context.Context, reader transcript.Reader) ([]Call, error) {
	a := acting{run: r, ctx: ctx, reader: reader, branches: true}
	acts, err := a.all()
	return callsOf(acts), err
}

// BriefCalls is Calls with only the beginning of arguments and results, up to that
// many bytes.
func (r *Run) BriefCalls(ctx context.Context, reader transcript.Reader, most int) ([]Call, error) {
	requests := history.NewCuttingReader(ctx, reader, most, 0)
	a := acting{run: r, ctx: ctx, reader: reader, branches: true, requests: requests}
	acts, err := a.all()
	return callsOf(acts), err
}

// ExchangeCalls lists the calls of the history and the answer of an exchange.
func ExchangeCalls(ctx context.Context, r transcript.Reader, e *transcript.Exchange) ([]Call, error) {
	acts, err := exchangeActs(ctx, r, e, false)
	return callsOf(acts), err
}

func callsOf(acts []act) []Call {
	list := []Call{}
	for i := range acts {
		a := &acts[i]
		it := a.Item
		if it.Kind != transcript.ToolCall && it.Kind != transcript.ToolResult {
			continue
		}
		c := Call{N: len(list) + 1, Step: a.ref, Exchange: a.from, At: a.at, CallID: it.CallID, Name: it.Name, Arguments: it.ArgumentsRaw, ServerSide: it.ServerSide, Sent: a.sent && it.Kind == transcript.ToolCall}
		if a.agent != nil {
			c.Agent = a.agent.Ref
		}
		c.Partial = a.step != nil && a.said && a.step.Partial()
		result := a.Result
		if it.Kind == transcript.ToolResult {
			result = it
		}
		if a.call != nil {
			c.Arguments = a.call.ArgumentsRaw
		}
		if result != nil {
			c.Result, c.ResultBytes, c.Parts, c.IsError = &result.Text, textSize(result), len(result.Parts), result.IsError
		}
		if p := a.pair; p != nil {
			c.State, c.By, c.LatencyMS, c.IsError = p.State, p.By, p.LatencyMS, c.IsError || p.IsError
			c.Name = cmp.Or(c.Name, p.Name)
		}
		list = append(list, c)
	}
	return list
}

// CallFilter narrows a list of calls. The zero CallFilter matches all.
type CallFilter struct {
	Tool   string // part of the tool's name
	ID     string // part of the call id
	Errors bool   // only calls that are Bad
}

// Takes reports whether a call matches.
func (f CallFilter) Takes(c *Call) bool {
	return strings.Contains(strings.ToLower(c.Name), strings.ToLower(f.Tool)) && strings.Contains(c.CallID, f.ID) && (!f.Errors || c.Bad())
}

// CallOrders are the orders of calls. All but step and tool are descending.
var CallOrders = []string{"step", "tool", "bytes", "latency", "state"}

// SortCalls orders calls; ErrBadQuery if there is no such order.
func SortCalls(list []Call, by string) error {
	var compare func(a, b Call) int
	switch by {
	case "step", "":
		return nil
	case "tool":
		compare = func(a, b Call) int { return strings.Compare(a.Name, b.Name) }
	case "bytes":
		compare = func(a, b Call) int { return b.ResultBytes - a.ResultBytes }
	case "latency":
		compare = func(a, b Call) int { return cmp.Compare(orZero(b.LatencyMS), orZero(a.LatencyMS)) }
	case "state":
		compare = func(a, b Call) int { return cmp.Compare(b.trouble(), a.trouble()) }
	default:
		return fmt.Errorf("sort by %q: %w: want one of %s", by, ErrBadQuery, strings.Join(CallOrders, ", "))
	}
	slices.SortStableFunc(list, compare)
	return nil
}

func (c *Call) trouble() int {
	switch {
	case c.IsError:
		return 2
	case c.Bad():
		return 1
	}
	return 0
}

func orZero(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// exchangeActs returns the acts of the whole history of an exchange and its answer.
func exchangeActs(ctx context.Context, r transcript.Reader, e *transcript.Exchange, reasoning bool) ([]act, error) {
	t, _, err := newTranscript(ctx, r, e)
	if err != nil {
		return nil, err
	}
	return transcriptActs(t, reasoning), nil
}

func transcriptActs(t *Transcript, reasoning bool) []act {
	var acts []act
	for i := range t.Entries {
		entry := &t.Entries[i]
		if entry.Item.Kind == transcript.Reasoning && !reasoning {
			continue
		}
		acts = appendAct(acts, act{Act: analysis.Act{Item: &entry.Item, Result: entry.Result}, ref: entry.Source, from: entry.Place.Exchange, at: entry.Item.At, said: entry.Output,
			sent: !entry.Output && (entry.Pair == nil || entry.Pair.Call == nil || entry.Pair.Call.Body == "request"), pair: entry.Pair})
	}
	return acts
}

// RunsWithCall returns the ids of up to limit runs with a call whose id contains part,
// the latest first. Runs of unreadable exchanges are left out.
func RunsWithCall(ctx context.Context, r transcript.Reader, part string, limit int) ([]string, error) {
	const atOnce = 500
	var runs, ids []string
	of := map[string]string{}
	look := func() error {
		rows, err := r.Calls(ctx, ids)
		if err != nil {
			return ignoreLost(err)
		}
		found := map[string]bool{}
		for i := range rows {
			if strings.Contains(rows[i].CallID, part) {
				found[of[rows[i].Exchange]] = true
			}
		}
		for _, id := range ids { // newest first
			if run := of[id]; found[run] && !slices.Contains(runs, run) {
				runs = append(runs, run)
			}
		}
		ids = ids[:0]
		return nil
	}
	for e, err := range r.Exchanges(ctx, transcript.Filter{}) {
		if err != nil && ignoreLost(err) != nil {
			return nil, err
		}
		if err != nil || e.Calls == 0 || e.Link.Run == "" {
			continue
		}
		ids, of[e.ID] = append(ids, e.ID), e.Link.Run
		if len(ids) == atOnce {
			if err := look(); err != nil {
				return nil, err
			}
			if len(runs) >= limit {
				break
			}
		}
	}
	if err := look(); err != nil {
		return nil, err
	}
	return runs[:min(len(runs), limit)], nil
}
