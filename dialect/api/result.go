package api

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/retake-debugger/retake/rawjson"
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
func (l List) SetResult(d transcript.Dialect, body []byte, callID, text string) ([]byte, error) {
	item, err := l.FindResult(d, body, callID)
	if err != nil {
		return nil, fmt.Errorf("set result of %q: %w", callID, err)
	}
	return l.SetResultAt(d, body, item.At, text)
}

// FindResult gives the tool result of a request body that SetResult would
// change. ErrNoResult if there is none.
func (l List) FindResult(d transcript.Dialect, body []byte, callID string) (*transcript.Item, error) {
	items := l.Decode(d, &Wire{Request: body}).Input
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
		return nil, ErrNoResult
	}
	return &items[found], nil
}

// SetResultAt does the same for the tool result at a JSON pointer, the At of
// its item. A value that is one text part keeps its part around the new text;
// any other list or object gives way to a string.
func (l List) SetResultAt(d transcript.Dialect, body []byte, at, text string) ([]byte, error) {
	if !rawjson.Valid(body) {
		return nil, errors.New("set result: the body is not JSON")
	}
	item, err := rawjson.Locate(body, at)
	if errors.Is(err, rawjson.ErrNoValue) {
		err = ErrNoResult
	}
	if err != nil {
		return nil, fmt.Errorf("set result at %s: %w", at, err)
	}
	member := ""
	if a := l.Of(d); a != nil {
		member = a.Result(body[item.Start:item.End])
	}
	if member == "" {
		return nil, fmt.Errorf("set result at %s: %w", at, ErrNoResult)
	}
	value := rawjson.Quote(text)
	old, ok := rawjson.Child(body, item, member)
	if !ok { // a result of messages need not have a content
		return rawjson.Apply(body, rawjson.Edit{Op: rawjson.Insert, At: at + "/" + member, Value: value})
	}
	var now transcript.Item
	ReadResult(&now, body[old.Start:old.End])
	if now.Text == text && len(now.Parts) == 0 && !rawjson.IsEmpty(body[old.Start:old.End]) {
		return body, nil
	}
	if only, ok := onlyText(body, old); ok {
		old = only
	}
	return rawjson.Splice(body, old.Start, old.End, value), nil
}

// ErrNoErrorMark says that the API has no member that says that a tool failed.
var ErrNoErrorMark = errors.New("the API has no mark for a tool that failed: say so in the text")

// SetErrorAt says of the tool result at a JSON pointer whether its tool failed.
// ErrNoErrorMark if results of that API cannot say so.
func (l List) SetErrorAt(d transcript.Dialect, body []byte, at string, failed bool) ([]byte, error) {
	a := l.Of(d)
	if a == nil || a.ErrorMark == "" {
		if !failed {
			return body, nil
		}
		return nil, fmt.Errorf("set error at %s: %w", at, ErrNoErrorMark)
	}
	at += "/" + a.ErrorMark
	now, err := rawjson.Value(body, at)
	switch {
	case err == nil && string(now) == strconv.FormatBool(failed), errors.Is(err, rawjson.ErrNoValue) && !failed:
		return body, nil
	}
	return rawjson.Apply(body, rawjson.Edit{Op: rawjson.Set, At: at, Value: strconv.AppendBool(nil, failed)})
}

// onlyText finds the text of a list that holds one text part and nothing else.
func onlyText(body []byte, at rawjson.Span) (rawjson.Span, bool) {
	parts := rawjson.Elements(body[at.Start:at.End])
	if len(parts) != 1 || !rawjson.IsString(rawjson.Get(parts[0], "text")) {
		return at, false
	}
	switch rawjson.String(rawjson.Get(parts[0], "type")) {
	case "text", "input_text", "output_text":
		part, _ := rawjson.Child(body, at, "0")
		return rawjson.Child(body, part, "text")
	}
	return at, false
}
