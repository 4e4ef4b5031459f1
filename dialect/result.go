package dialect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// ErrNoResult says that a request holds no result for that call id.
var ErrNoResult = errors.New("no such tool result")

// SetResult gives body with the result of the call callID set to text. Only
// the bytes of that value change, and none if it says text already. Call ids
// restart and repeat: of several calls with that id it is the result that
// transcript.PairItems joins to the last one, or, if none of them has a result,
// the last result of that id that no call claims. A second result for the same
// call stays as it is. ErrNoResult if there is none.
func SetResult(d transcript.Dialect, body []byte, callID, text string) ([]byte, error) {
	items := Decode(d, &Wire{Request: body}).Input
	found, orphan := -1, -1
	for _, m := range transcript.PairItems(items) {
		switch {
		case m.Result < 0 || items[m.Result].CallID != callID:
		case m.State == transcript.Paired:
			found = m.Result
		case m.State == transcript.OrphanResult:
			orphan = m.Result
		}
	}
	if found < 0 {
		found = orphan
	}
	if found < 0 {
		return nil, fmt.Errorf("set result of %q: %w", callID, ErrNoResult)
	}
	return SetResultAt(d, body, items[found].At, text)
}

// SetResultAt does the same for the tool result at a JSON pointer, the At of
// its item.
func SetResultAt(d transcript.Dialect, body []byte, at, text string) ([]byte, error) {
	path, err := tokens(at)
	if err != nil {
		return nil, fmt.Errorf("set result at %s: %w", at, err)
	}
	if !valid(body) {
		return nil, errors.New("set result: the body is not JSON")
	}
	item, err := locate(body, path)
	if err != nil {
		return nil, fmt.Errorf("set result at %s: %w", at, ErrNoResult)
	}
	member := resultMember(d, body[item.start:item.end])
	if member == "" {
		return nil, fmt.Errorf("set result at %s: %w", at, ErrNoResult)
	}
	value := quote(text)
	old, ok := step(body, item, member)
	if !ok { // a result of messages need not have a content
		return insert(body, at+"/"+member, value)
	}
	if v := body[old.start:old.end]; isString(v) && unquote(v) == text {
		return body, nil
	}
	return splice(body, old.start, old.end, value), nil
}

// resultMember names the member that holds a result's value, "" if v is no
// tool result.
func resultMember(d transcript.Dialect, v []byte) string {
	kind, role := str(get(v, "type")), str(get(v, "role"))
	switch d {
	case transcript.Chat:
		if role == "tool" || role == "function" {
			return "content"
		}
	case transcript.Messages:
		if kind == "tool_result" || strings.HasSuffix(kind, "_tool_result") {
			return "content"
		}
	case transcript.Responses:
		if strings.HasSuffix(kind, "_output") {
			for _, member := range [...]string{"result", "tools"} {
				if get(v, member) != nil && get(v, "output") == nil {
					return member
				}
			}
			return "output"
		}
	}
	return ""
}
