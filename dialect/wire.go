// Package dialect reads and rewrites the bytes of one provider API at a time.
//
// Words used here:
//
//   - A Dialect is an API's format (chat, responses, messages), not a vendor:
//     Azure, vLLM, OpenRouter and others speak one of them.
//   - A Wire is one exchange's bytes with content encodings undone.
//   - Recognise says which dialect a wire speaks, Decode reads it into a
//     transcript.Turn. Both are total: they take any bytes, never fail, and say
//     in Turn.Warnings what was odd.
//   - Reassembly turns an event stream into the object that the same API would
//     have answered without streaming.
//   - A segment is a byte range of a body, cut at the elements of its large
//     arrays, so that what is resent can be stored once.
//   - A splice is an edit that leaves every byte outside the edited value as it
//     was.
//
// There is one decoder per API. What single vendors do differently is listed
// in tables beside it, each with where it was seen.
package dialect

import "github.com/retake-debugger/retake/transcript"

// Wire is one exchange's bytes, content encodings undone.
type Wire struct {
	Method         string
	URL            string // URL or request target
	RequestHeader  map[string][]string
	ResponseHeader map[string][]string
	Status         int
	Request        []byte
	Response       []byte
}

// Recognise says which dialect an exchange speaks, by its path and its body.
// What fits none is transcript.Unknown.
func Recognise(w *Wire) transcript.Dialect { return transcript.Unknown }

// Decode reads an exchange. It takes any bytes; what is odd becomes a warning.
func Decode(d transcript.Dialect, w *Wire) *transcript.Turn {
	return &transcript.Turn{Dialect: d, FirstContentAt: -1}
}

// Split gives the ascending end offsets of a body's segments; the last is
// len(body). An empty body has none.
func Split(d transcript.Dialect, body []byte) []int {
	if len(body) == 0 {
		return nil
	}
	return []int{len(body)}
}
