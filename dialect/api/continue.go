package api

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Result is the outcome of one tool call, as a client would send it.
type Result struct {
	CallID  string
	Text    string
	IsError bool
	// Raw, if there is any, is a result of the same dialect as it stood in a request:
	// it is sent with all its parts and the new call id. Text and IsError do not count
	// then.
	Raw json.RawMessage
}

// As returns the raw result as the one of another call, whose id goes into member:
// without the id of its own that an item may have, and without a cache mark, of which
// an API allows few.
func (r *Result) As(member string) []byte {
	var f rawjson.Object
	for c := rawjson.Walk(r.Raw); c.Next(); {
		switch key := string(c.Key()); key {
		case member:
			f.Set(key, rawjson.Quote(r.CallID))
		case "id", "cache_control":
		default:
			f.Set(key, c.Value())
		}
	}
	return f.Bytes()
}

// Continue gives the request that goes on from body after its answer: the
// answer (a response object, reassembled if it was streamed) and the results
// of its tool calls are appended the way a client of that API does it.
// Thinking blocks, signatures, reasoning items and call ids go back as they
// came. The bytes of body before that stay as they are.
func (l List) Continue(d transcript.Dialect, body, response []byte, results []Result) ([]byte, error) {
	if !rawjson.Valid(body) || !rawjson.Valid(response) {
		return nil, errors.New("continue request: a body is not JSON")
	}
	a := l.Of(d)
	if a == nil {
		return nil, fmt.Errorf("continue request: unknown dialect %q", d)
	}
	response = response[rawjson.SkipSpace(response, 0):]
	var edits []rawjson.Edit
	if a.Continue != nil {
		edits = a.Continue(body[rawjson.SkipSpace(body, 0):], response, results)
	} else {
		elements, err := a.Append(response, results)
		if err != nil {
			return nil, fmt.Errorf("continue request: %w", err)
		}
		for _, v := range elements {
			edits = append(edits, Add("/"+a.History()+"/-", v))
		}
	}
	body, err := rawjson.Apply(body, edits...)
	if err != nil {
		return nil, fmt.Errorf("continue request: %w", err)
	}
	return body, nil
}

func Add(at string, v []byte) rawjson.Edit { return rawjson.Edit{Op: rawjson.Insert, At: at, Value: v} }
