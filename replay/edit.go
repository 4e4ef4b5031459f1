package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// ErrNoResult means that the request holds no result for a call id.
var ErrNoResult = errors.New("the request holds no result for that call")

// ErrNoCall means that the request holds no call with that id.
var ErrNoCall = errors.New("the request holds no such call")

// ErrEdit means that an edit is not one that can be made: a value that is no JSON, a
// pointer that leads nowhere, an operation that does not exist.
var ErrEdit = errors.New("the edit cannot be made")

// mostWas bounds how much of what an edit replaced is kept with it.
const mostWas = 64 << 10

// Apply makes edits in a request body. It completes each edit by where its value stands
// and what it was.
func Apply(speaks transcript.Dialect, body []byte, edits []transcript.Edit) ([]byte, error) {
	made, err := apply(newDecoded(speaks, "", "", body, nil), edits)
	if err != nil {
		return nil, err
	}
	return made.body, nil
}

// apply makes the edits in a request body, one after the other. It completes each edit by
// where its value stands and what it was.
func apply(body *decoded, edits []transcript.Edit) (*decoded, error) {
	a := applying{body: body.body, at: body}
	for i := range edits {
		e := &edits[i]
		if e.Op == "" {
			e.Op = transcript.SetResult
		}
		made, err := a.one(e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", nameOf(e), err)
		}
		if len(made) > history.MaxBody {
			return nil, fmt.Errorf("%s: %w: the request would have more than %d bytes", nameOf(e), ErrEdit, history.MaxBody)
		}
		a.set(e, made)
		if len(e.Was) > mostWas {
			e.Was = ""
		}
	}
	return body.with(a.body), nil
}

// applying is a body while edits are made in it.
type applying struct {
	body   []byte
	at     *decoded // this body or an earlier one that has its items at the same places
	edited []string // where items of at were edited
}

// set takes the body that an edit made.
func (a *applying) set(e *transcript.Edit, body []byte) {
	a.body = body
	switch {
	case e.Op == transcript.SetResult, e.Op == transcript.SetArgs:
		a.edited = append(a.edited, e.At)
	case e.Op == transcript.SetModel, e.Op == transcript.SetParam && kindOf(e.Value) != '{' && kindOf(e.Value) != '[' && !a.hasItems(e.At):
	default: // items may have moved
		a.again()
	}
}

func (a *applying) again() { a.at, a.edited = a.at.with(a.body), nil }

// hasItems reports whether items lie at a pointer or below it.
func (a *applying) hasItems(at string) bool {
	return slices.ContainsFunc(a.at.turn().Input, func(it transcript.Item) bool { return it.At == at || strings.HasPrefix(it.At, at+"/") })
}

// find returns the item of the body that choose chooses by its index; nil for a negative
// one.
func (a *applying) find(choose func([]transcript.Item) int) *transcript.Item {
	i := choose(a.at.turn().Input)
	if i >= 0 && slices.Contains(a.edited, a.at.turn().Input[i].At) { // it is not what it was
		a.again()
		i = choose(a.at.turn().Input)
	}
	if i < 0 {
		return nil
	}
	return &a.at.turn().Input[i]
}

// nameOf says in words which edit it is.
func nameOf(e *transcript.Edit) string {
	op := strings.ReplaceAll(e.Op, "_", " ")
	switch {
	case e.CallID != "" || e.Op == transcript.SetResult && e.At == "":
		return fmt.Sprintf("%s of %q", op, e.CallID)
	case e.Op == transcript.SetParam:
		return fmt.Sprintf("set %q", e.Text)
	case e.At != "":
		return op + " " + e.At
	}
	return op
}

// one makes an edit.
func (a *applying) one(e *transcript.Edit) ([]byte, error) {
	body := a.body
	switch e.Op {
	case transcript.SetResult:
		return a.setResult(e)
	case transcript.SetArgs:
		return a.setArguments(e)
	case transcript.SetSystem:
		out, at, was, err := dialect.SetSystem(a.at.speaks, body, e.Text)
		e.At, e.Was = at, was
		return out, err
	case transcript.SetModel:
		e.At = "/model"
		name, err := json.Marshal(e.Text)
		if err != nil {
			return nil, fmt.Errorf("write model: %w", err)
		}
		return splice(body, rawjson.Set, e, name)
	case transcript.SetParam:
		e.At = pointer(e.Text)
		return splice(body, rawjson.Set, e, e.Value)
	case transcript.SetTools:
		var tools []json.RawMessage
		if json.Unmarshal(e.Value, &tools) != nil || tools == nil {
			return nil, fmt.Errorf("%w: tools are a JSON array", ErrEdit)
		}
		e.At = "/tools"
		return splice(body, rawjson.Set, e, e.Value)
	case transcript.SetValue:
		return splice(body, rawjson.Set, e, e.Value)
	case transcript.Insert:
		return splice(body, rawjson.Insert, e, e.Value)
	case transcript.Drop:
		return splice(body, rawjson.Delete, e, nil)
	case transcript.Patch:
		return applyPatch(body, e.Value)
	}
	return nil, fmt.Errorf("%w: no such operation", ErrEdit)
}

func (a *applying) setResult(e *transcript.Edit) ([]byte, error) {
	item := a.find(func(items []transcript.Item) int { return resultOf(items, e) })
	if item == nil {
		return nil, ErrNoResult
	}
	e.CallID, e.At, e.Was = item.CallID, item.At, item.Text
	body, err := dialect.SetResultAt(a.at.speaks, a.body, e.At, e.Text)
	if err != nil || e.IsError == nil {
		return body, err
	}
	return dialect.SetErrorAt(a.at.speaks, body, e.At, *e.IsError)
}

// resultOf returns the index of the result that an edit means, -1 if there is none: that
// of a call by its id or, of calls without one, by its place. Call ids repeat: it is the
// result that is paired with the last such call or, if none has a result, the last one
// that no call claims.
func resultOf(items []transcript.Item, e *transcript.Edit) int {
	if e.CallID == "" && e.At != "" {
		return slices.IndexFunc(items, func(it transcript.Item) bool { return it.Kind == transcript.ToolResult && it.At == e.At })
	}
	found, orphan := -1, -1
	for _, m := range transcript.PairItems(items) {
		switch {
		case m.Result < 0 || items[m.Result].CallID != e.CallID:
		case m.State == transcript.Paired:
			found = m.Result
		case m.State == transcript.OrphanResult:
			orphan = m.Result
		}
	}
	if found < 0 {
		return orphan
	}
	return found
}

func (a *applying) setArguments(e *transcript.Edit) ([]byte, error) {
	item := a.find(func(items []transcript.Item) int {
		for i := len(items) - 1; i >= 0; i-- {
			if items[i].Kind == transcript.ToolCall && items[i].CallID == e.CallID {
				return i
			}
		}
		return -1
	})
	if item == nil {
		return nil, ErrNoCall
	}
	e.At, e.Was = item.At, item.ArgumentsRaw
	return dialect.SetArgumentsAt(a.at.speaks, a.body, e.At, e.Value)
}

// splice makes one edit at e.At and notes what stood there.
func splice(body []byte, op rawjson.Op, e *transcript.Edit, value []byte) ([]byte, error) {
	if was, err := rawjson.Value(body, e.At); err == nil && op != rawjson.Insert {
		e.Was = string(was)
	}
	out, err := rawjson.Apply(body, rawjson.Edit{Op: op, At: e.At, Value: value})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEdit, err)
	}
	return out, nil
}

// pointer returns the JSON pointer of a path of member names.
func pointer(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteByte('/')
		b.WriteString(rawjson.EscapeToken(n))
	}
	return b.String()
}
