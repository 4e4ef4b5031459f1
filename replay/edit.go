package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// ErrNoResult says that the request holds no result for a call id.
var ErrNoResult = errors.New("the request holds no result for that call")

// ErrNoCall says that the request holds no call with that id.
var ErrNoCall = errors.New("the request holds no such call")

// ErrEdit says that an edit is not one that can be made: a value that is no JSON, a
// pointer that leads nowhere, an operation that does not exist.
var ErrEdit = errors.New("the edit cannot be made")

// mostWas bounds how much of what an edit replaced is kept with it.
const mostWas = 64 << 10

// apply makes the edits in a request body, one after the other. It completes
// each edit by where its value stands and what it was.
func apply(d transcript.Dialect, body []byte, edits []transcript.Edit) ([]byte, error) {
	for i := range edits {
		e := &edits[i]
		if e.Op == "" {
			e.Op = transcript.SetResult
		}
		var err error
		if body, err = applyOne(d, body, e); err != nil {
			return nil, fmt.Errorf("%s: %w", nameOf(e), err)
		}
		if len(body) > maxBody {
			return nil, fmt.Errorf("%s: %w: the request would have more than %d bytes", nameOf(e), ErrEdit, maxBody)
		}
		if len(e.Was) > mostWas {
			e.Was = ""
		}
	}
	return body, nil
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

func applyOne(d transcript.Dialect, body []byte, e *transcript.Edit) ([]byte, error) {
	switch e.Op {
	case transcript.SetResult:
		return setResult(d, body, e)
	case transcript.SetArgs:
		return setArguments(d, body, e)
	case transcript.SetSystem:
		out, at, was, err := dialect.SetSystem(d, body, e.Text)
		e.At, e.Was = at, was
		return out, err
	case transcript.SetModel:
		e.At = "/model"
		name, err := json.Marshal(e.Text)
		if err != nil {
			return nil, fmt.Errorf("write model: %w", err)
		}
		return splice(body, dialect.Set, e, name)
	case transcript.SetParam:
		e.At = pointer(e.Text)
		return splice(body, dialect.Set, e, e.Value)
	case transcript.SetTools:
		var tools []json.RawMessage
		if json.Unmarshal(e.Value, &tools) != nil || tools == nil {
			return nil, fmt.Errorf("%w: tools are a JSON array", ErrEdit)
		}
		e.At = "/tools"
		return splice(body, dialect.Set, e, e.Value)
	case transcript.SetValue:
		return splice(body, dialect.Set, e, e.Value)
	case transcript.Insert:
		return splice(body, dialect.Insert, e, e.Value)
	case transcript.Drop:
		return splice(body, dialect.Delete, e, nil)
	case transcript.Patch:
		return applyPatch(body, e.Value)
	}
	return nil, fmt.Errorf("%w: no such operation", ErrEdit)
}

func setResult(d transcript.Dialect, body []byte, e *transcript.Edit) ([]byte, error) {
	item, err := findResult(d, body, e)
	if errors.Is(err, dialect.ErrNoResult) {
		return nil, ErrNoResult
	}
	if err != nil {
		return nil, err
	}
	e.CallID, e.At, e.Was = item.CallID, item.At, item.Text
	if body, err = dialect.SetResultAt(d, body, e.At, e.Text); err != nil || e.IsError == nil {
		return body, err
	}
	return dialect.SetErrorAt(d, body, e.At, *e.IsError)
}

// findResult finds the result that an edit means: by the id of its call or, of calls
// without one, by its place.
func findResult(d transcript.Dialect, body []byte, e *transcript.Edit) (*transcript.Item, error) {
	if e.CallID != "" || e.At == "" {
		return dialect.FindResult(d, body, e.CallID)
	}
	items := dialect.Decode(d, &dialect.Wire{Request: body}).Input
	for i := range items {
		if items[i].Kind == transcript.ToolResult && items[i].At == e.At {
			return &items[i], nil
		}
	}
	return nil, dialect.ErrNoResult
}

func setArguments(d transcript.Dialect, body []byte, e *transcript.Edit) ([]byte, error) {
	item, err := dialect.FindCall(d, body, e.CallID)
	if err != nil {
		return nil, ErrNoCall
	}
	e.At, e.Was = item.At, item.ArgumentsRaw
	return dialect.SetArgumentsAt(d, body, e.At, e.Value)
}

// splice makes one edit at e.At and notes what stood there.
func splice(body []byte, op dialect.Op, e *transcript.Edit, value []byte) ([]byte, error) {
	if was, err := dialect.Value(body, e.At); err == nil && op != dialect.Insert {
		e.Was = string(was)
	}
	out, err := dialect.Apply(body, dialect.Edit{Op: op, At: e.At, Value: value})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEdit, err)
	}
	return out, nil
}

// pointer gives the JSON pointer of a path of member names.
func pointer(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(n, "~", "~0"), "/", "~1"))
	}
	return b.String()
}
