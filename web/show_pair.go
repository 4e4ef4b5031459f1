package web

import (
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
	"github.com/retake-debugger/retake/web/safehtml"
)

// The states of a pair on a page.
const (
	stateOK         = "ok"
	stateError      = "error"   // the result says that the tool failed
	stateWaiting    = "waiting" // the latest answer's call: its result may still come
	stateUnanswered = "unanswered"
	stateOrphan     = "orphan"
	stateDuplicate  = "duplicate"
	stateProvider   = "provider" // run by the provider, without a result of its own
)

// pair is a call and its result side by side, or the half that exists.
type pair struct {
	Anchor  string
	Details string // address of everything known about it
	State   string
	CallID  string
	Name    string
	Number  int // in its batch, from 1; 0 for a single call
	Of      int
	Call    *half
	Result  *half
	Latency *float64
	Why     string   // what is wrong, in a sentence
	Joined  string   // how the halves were joined, if not by id
	Other   string   // anchor of the pair that has the first result
	AlsoIn  []string // references of exchanges with other results
	Found   []lint.Finding
	Example bool        // a developer put it there
	Subs    []*subAgent // agents that the call started, on the page of a run
}

// half is one side of a pair.
type half struct {
	Value  value
	Fields []field
	Raw    string
	Source string // the exchange it came from, if it is another
	New    bool
	Server bool
	Parts  int
	Images []picture
	Was    *value // what a replay replaced
}

// Loud reports whether something is wrong with the pair.
func (p pair) Loud() bool {
	switch p.State {
	case stateError, stateUnanswered, stateOrphan, stateDuplicate:
		return true
	}
	return false
}

func (b *blocks) pair(i int) pair {
	e := &b.t.Entries[i]
	p := pair{Anchor: b.prefix + anchor(i), Details: detailsURL(e.Place), CallID: e.Item.CallID, Name: e.Item.Name, AlsoIn: e.AlsoIn, Found: worth(e.Findings), Example: e.Example}
	if e.Item.Kind == transcript.ToolResult {
		b.lone(&p, e)
		return p
	}
	if e.Batch > 1 {
		p.Number, p.Of = b.numbers[i], e.Batch
	}
	p.Call = b.call(e)
	b.result(&p, e)
	return p
}

func (b *blocks) call(e *view.Entry) *half {
	h := &half{Raw: itemURL(e.Place, "raw"), Source: b.other(e.Source), Server: e.Item.ServerSide}
	whole := itemURL(e.Place, "arguments")
	if h.Fields = b.budget.fields(e.Item.Arguments, whole); h.Fields != nil {
		return h
	}
	h.Value = b.budget.data(e.Item.ArgumentsRaw, whole, b.moderate())
	// A tool may take plain text. Text that begins like JSON was meant as JSON.
	if raw := strings.TrimSpace(e.Item.ArgumentsRaw); e.Item.Arguments == nil && (strings.HasPrefix(raw, "{") || strings.HasPrefix(raw, "[")) {
		h.Value.Note = "not valid JSON"
	}
	return h
}

// moderate returns how soon the halves of a pair are folded.
func (b *blocks) moderate() folding {
	if b.open {
		return open
	}
	return moderate
}

// result fills in the right side of a call and describes what is wrong with it.
func (b *blocks) result(p *pair, e *view.Entry) {
	switch {
	case e.Result != nil && e.Pair != nil && e.Pair.Result != nil:
		p.State, p.Latency = stateOK, e.Pair.LatencyMS
		if e.Result.IsError || e.Pair.IsError {
			p.State = stateError
		}
		if e.Pair.By != "id" && e.Pair.By != "" {
			p.Joined = "joined by " + e.Pair.By
		}
		p.Result = b.resultHalf(e.Result, *e.Pair.Result, e.ResultSource, !e.ResultNew && !e.Output, formOfResult(&e.Item, e.Result))
		p.Result.New = e.ResultNew && b.t.Parent != nil
		if e.Edit != nil {
			was := b.budget.data(e.Edit.Was, "", closed)
			p.Result.Was, p.Result.New = &was, false
		}
	case e.Item.ServerSide:
		p.State, p.Why = stateProvider, "The provider ran it and gave no result of its own."
	case !e.Output:
		p.State, p.Why = stateUnanswered, "The request holds no result for this call. Providers refuse such a history."
	case len(b.t.Children) > 0:
		p.State, p.Why = stateUnanswered, b.t.Children[0].Ref()+" goes on without a result for this call."
	default:
		p.State, p.Why = stateWaiting, "No later request has brought a result yet."
	}
}

// lone shows a result without its call.
func (b *blocks) lone(p *pair, e *view.Entry) {
	p.Result = b.resultHalf(&e.Item, e.Place, e.Source, !e.New, safehtml.Text)
	p.Result.New = e.New && b.t.Parent != nil
	if e.Pair != nil && e.Pair.State == transcript.Duplicate {
		p.State, p.Why, p.Name = stateDuplicate, "A second result for a call that has one already.", e.Pair.Name
		if e.Pair.Call != nil {
			p.Other = b.answered[*e.Pair.Call]
		}
		return
	}
	if e.Item.ServerSide {
		p.State, p.Why = stateProvider, "The provider ran it; its call is not in this history."
		return
	}
	p.State = stateOrphan
	p.Why = fmt.Sprintf("No call with the id %q stands before this result.", e.Item.CallID)
	if e.Item.CallID == "" {
		p.Why = "This result has no call id, and no open call stands before it."
	}
}

func (b *blocks) resultHalf(it *transcript.Item, place transcript.Place, source string, resent bool, form safehtml.Form) *half {
	how := b.moderate()
	if resent && !b.open {
		how = closed
	}
	return &half{
		Raw: itemURL(place, "raw"), Source: b.other(source), Server: it.ServerSide, Parts: len(it.Parts), Images: picturesOf(it, place),
		Value: b.budget.dataOr(it.Text, itemURL(place, "text"), how, form),
	}
}

// other returns a reference unless it is the exchange on the page.
func (b *blocks) other(ref string) string {
	if ref == b.ref {
		return ""
	}
	return ref
}
