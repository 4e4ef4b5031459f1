package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// mostHeld bounds how many answers are followed that the provider holds.
const mostHeld = 10_000

// Full returns the request of a recorded exchange, decoded, with all that it leaves out
// because the provider holds it: the history before previous_response_id, of a
// conversation or of a thread, and items that it only refers to. held reports whether
// there was such; else body is what was recorded. ErrHeld, with what is missing, if
// the recording does not have it all.
func Full(ctx context.Context, r transcript.Reader, origin *transcript.Exchange) (body []byte, held bool, err error) {
	o, err := readOriginal(ctx, r, origin)
	if err != nil {
		return nil, false, err
	}
	whole, err := o.whole(ctx, r)
	if err != nil {
		return nil, false, err
	}
	return whole.body, o.held, nil
}

// exactBody returns the decoded body of a request, which must be whole.
func exactBody(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*decoded, error) {
	o, err := readOriginal(ctx, r, e)
	if err != nil {
		return nil, err
	}
	return o.text()
}

// heldStep is a step that leans on the one before it in the list.
type heldStep struct {
	exchange *transcript.Exchange
	body     []byte
	answer   json.RawMessage // the response object; of all but the first
}

func missing(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrHeld, fmt.Sprintf(format, args...))
}

// fill adds to body, the request of e, what it leaves out.
func fill(ctx context.Context, r transcript.Reader, e *transcript.Exchange, body *decoded) (*decoded, bool, error) {
	f := filler{ctx: ctx, r: r}
	if len(dialect.Of(e.Dialect).Held) == 0 {
		return body, false, nil
	}
	steps, err := f.steps(e, body)
	if err != nil {
		return nil, false, err
	}
	whole := steps[len(steps)-1].body
	held := len(steps) > 1
	for i := len(steps) - 1; i > 0; i-- {
		if whole, err = join(e.Dialect, whole, &steps[i-1], steps[i].answer); err != nil {
			return nil, false, err
		}
	}
	whole, referred, err := f.resolve(e, body.with(whole))
	if err != nil {
		return nil, false, err
	}
	if held || referred {
		whole, err = unlean(e.Dialect, whole)
	}
	if err == nil && len(whole) > history.MaxBody {
		err = fmt.Errorf("the request would have more than %d bytes", history.MaxBody)
	}
	return body.with(whole), held || referred, err
}

type filler struct {
	ctx context.Context
	r   transcript.Reader
}

// steps returns the request and those whose history it continues, newest first.
func (f *filler) steps(e *transcript.Exchange, body *decoded) ([]heldStep, error) {
	var steps []heldStep
	var answer json.RawMessage
	for {
		turn := body.turn()
		steps = append(steps, heldStep{e, body.body, answer})
		if len(steps) > mostHeld {
			return nil, missing("more than %d answers stand before it", mostHeld)
		}
		if turn.PreviousID == "" && turn.Conversation == "" {
			return steps, nil
		}
		parent, err := f.parent(e, turn)
		if err != nil || parent == nil {
			return steps, err
		}
		if answer, err = f.answer(parent); err != nil {
			return nil, err
		}
		if parent.Link.By == transcript.ByRetrieve { // a poll: another request began that answer
			if parent, err = f.exchange(parent.Link.Parent, "the request that began the answer"); err != nil {
				return nil, err
			}
		}
		if body, err = exactBody(f.ctx, f.r, parent); err != nil {
			return nil, missing("the request of x%d: %v", parent.N, err)
		}
		e = parent
	}
}

func (f *filler) exchange(id, what string) (*transcript.Exchange, error) {
	e, err := f.r.Exchange(f.ctx, id)
	if errors.Is(err, transcript.ErrNotFound) {
		return nil, missing("%s was recorded and removed since", what)
	}
	if err != nil {
		return nil, fmt.Errorf("read exchange: %w", err)
	}
	return e, nil
}

// parent returns the exchange whose answer the request continues, nil if a
// conversation begins with it.
func (f *filler) parent(e *transcript.Exchange, turn *transcript.Turn) (*transcript.Exchange, error) {
	l := &e.Link
	if turn.PreviousID != "" {
		if l.By == transcript.ByResponse && l.Parent != "" {
			return f.exchange(l.Parent, "the answer "+turn.PreviousID)
		}
		return nil, missing("the answer %s, from which x%d goes on, was not recorded", turn.PreviousID, e.N)
	}
	if n, err := f.changed(e, turn.Conversation); err != nil {
		return nil, err
	} else if n > 0 {
		return nil, missing("conversation %s was changed beside its answers, by x%d", turn.Conversation, n)
	}
	switch {
	case l.By == transcript.ByConversation && l.Parent != "":
		return f.exchange(l.Parent, "the last answer of conversation "+turn.Conversation)
	case slices.ContainsFunc(e.Warnings, func(w string) bool { return strings.Contains(w, "conversation "+turn.Conversation) }):
		return nil, missing("what conversation %s held before x%d was not recorded", turn.Conversation, e.N)
	}
	return nil, nil
}

// changed returns the number of a recorded request, before e in its run, that put
// items into the conversation or took some out; 0 if there is none.
func (f *filler) changed(e *transcript.Exchange, id string) (int64, error) {
	for x, err := range f.r.Exchanges(f.ctx, transcript.Filter{Run: e.Link.Run, Dialect: transcript.Unknown, Before: e.N}) {
		if err != nil {
			return 0, fmt.Errorf("list exchanges: %w", err)
		}
		u, err := url.Parse(x.URL)
		if err != nil || x.Method == "GET" || !strings.Contains(u.Path, "/conversations") || x.Status >= 400 {
			continue
		}
		if strings.Contains(u.Path, "/conversations/") {
			if strings.Contains(u.Path, "/conversations/"+id+"/items") {
				return x.N, nil
			}
			continue
		}
		body, err := exactBody(f.ctx, f.r, x)
		if err != nil {
			return x.N, nil //nolint:nilerr // what it put in is not known
		}
		if items, err := rawjson.Value(body.body, "/items"); err == nil && string(items) != "null" && string(items) != "[]" {
			return x.N, nil
		}
	}
	return 0, nil
}

// answer returns the response object of an exchange, which must be whole.
func (f *filler) answer(e *transcript.Exchange) (json.RawMessage, error) {
	body, err := history.Body(f.ctx, f.r, &e.Response)
	if err != nil {
		return nil, missing("the answer of x%d: %v", e.N, err)
	}
	turn := history.Bodies{Response: body}.Decode(e)
	if e.Lossy || !turn.Complete || turn.Response == nil {
		return nil, missing("the answer of x%d was not recorded in full", e.N)
	}
	return turn.Response, nil
}

// list returns the pointer to the list that holds the history.
func list(d transcript.Dialect) string { return "/" + dialect.Of(d).History() }

// join returns the request of a step with the history before it in front.
func join(d transcript.Dialect, before []byte, step *heldStep, answer json.RawMessage) ([]byte, error) {
	before, err := unlean(d, before)
	if err != nil {
		return nil, err
	}
	if before, err = dialect.Continue(d, before, answer, nil); err != nil {
		return nil, missing("the answer before x%d: %v", step.exchange.N, err)
	}
	history, err := rawjson.Value(before, list(d))
	if err != nil {
		return nil, missing("the request before x%d has no %s", step.exchange.N, list(d))
	}
	var edits []rawjson.Edit
	own, err := rawjson.Value(step.body, list(d))
	var elements []json.RawMessage
	switch {
	case err != nil: // it adds nothing
	case kindOf(own) == '"':
		elements = []json.RawMessage{[]byte(`{"role":"user","content":` + string(own) + `}`)}
	default:
		if err := json.Unmarshal(own, &elements); err != nil {
			return nil, missing("the %s of x%d is no list", list(d), step.exchange.N)
		}
	}
	for _, v := range elements {
		edits = append(edits, rawjson.Edit{Op: rawjson.Insert, At: "/-", Value: v})
	}
	if history, err = rawjson.Apply(history, edits...); err != nil {
		return nil, fmt.Errorf("join histories: %w", err)
	}
	return rawjson.Apply(step.body, rawjson.Edit{Op: rawjson.Set, At: list(d), Value: history})
}

// unlean takes out what names the history that the provider holds.
func unlean(d transcript.Dialect, body []byte) ([]byte, error) {
	for _, name := range dialect.Of(d).Held {
		at := "/" + name
		if _, err := rawjson.Value(body, at); err != nil {
			continue
		}
		var err error
		if body, err = rawjson.Apply(body, rawjson.Edit{Op: rawjson.Delete, At: at}); err != nil {
			return nil, fmt.Errorf("take out %s: %w", at, err)
		}
	}
	return body, nil
}

// resolve puts items in the place of references to them.
func (f *filler) resolve(e *transcript.Exchange, whole *decoded) ([]byte, bool, error) {
	body := whole.body
	if dialect.Of(e.Dialect).Referable == nil {
		return body, false, nil
	}
	items := whole.turn().Input
	wanted := map[string]json.RawMessage{}
	for i := range items {
		if it := &items[i]; it.Kind == transcript.Other && it.Name == transcript.Reference {
			wanted[it.ItemID] = nil
		}
	}
	if len(wanted) == 0 {
		return body, false, nil
	}
	if err := f.find(e, wanted); err != nil {
		return nil, false, err
	}
	var edits []rawjson.Edit
	for i := range items {
		it := &items[i]
		if it.Kind != transcript.Other || it.Name != transcript.Reference {
			continue
		}
		if wanted[it.ItemID] == nil {
			return nil, false, missing("the item %s, to which x%d refers, was not recorded", it.ItemID, e.N)
		}
		edits = append(edits, rawjson.Edit{Op: rawjson.Replace, At: it.At, Value: wanted[it.ItemID]})
	}
	body, err := rawjson.Apply(body, edits...)
	if err != nil {
		return nil, false, fmt.Errorf("put in items: %w", err)
	}
	return body, true, nil
}

// find looks for items by their ids in the answers before an exchange.
func (f *filler) find(e *transcript.Exchange, wanted map[string]json.RawMessage) error {
	line, err := f.r.Line(f.ctx, e.ID)
	if err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	left := len(wanted)
	for _, id := range slices.Backward(line) {
		if left == 0 {
			return nil
		}
		if id == e.ID {
			continue
		}
		before, err := f.exchange(id, "an answer before")
		if err != nil {
			return err
		}
		answer, err := f.answer(before)
		if err != nil {
			continue // it is told which items are missing
		}
		var response struct{ Output []json.RawMessage }
		if json.Unmarshal(answer, &response) != nil {
			continue
		}
		for _, item := range response.Output {
			var named struct{ ID string }
			if json.Unmarshal(item, &named) != nil || named.ID == "" {
				continue
			}
			if v, ok := wanted[named.ID]; ok && v == nil {
				wanted[named.ID] = item
				left--
			}
		}
	}
	return nil
}
