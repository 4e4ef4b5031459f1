package api

import (
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// ErrNoConversion says that there is no conversion between two dialects.
var ErrNoConversion = errors.New("no conversion between these dialects")

// Convert writes a request of one dialect as one of another, and lists what it
// could not carry. Within one dialect the bytes stay as they are. Texts,
// arguments and schemas keep their spelling. What is only the provider's own
// business is neither carried nor listed: ids and states of items, and what
// the other dialect does anyway (store false, usage of a stream). The list is
// in the order of the request, as far as it could be read at once.
func (l List) Convert(from, to transcript.Dialect, body []byte) (converted []byte, losses []draft.Loss, err error) {
	if from == to {
		return body, nil, nil
	}
	if !rawjson.Valid(body) || !rawjson.IsObject(body[rawjson.SkipSpace(body, 0):]) {
		return nil, nil, errors.New("convert request: the body is no JSON object")
	}
	source, target := l.Of(from), l.Of(to)
	if source == nil {
		return nil, nil, fmt.Errorf("convert request from %s: %w", from, ErrNoConversion)
	}
	if target == nil {
		return nil, nil, fmt.Errorf("convert request to %s: %w", to, ErrNoConversion)
	}
	d := draft.New(source.Settings)
	source.Read(d, body[rawjson.SkipSpace(body, 0):])
	d.Fit(target.Limits)
	var out rawjson.Object
	target.Write(d, &out)
	if converted = out.Bytes(); !rawjson.Valid(converted) {
		return nil, nil, errors.New("convert request: it is nested too deep")
	}
	return converted, d.Losses, nil
}
