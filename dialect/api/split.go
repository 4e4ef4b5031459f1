package api

import (
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// maxSegments bounds how many pieces a hostile body is cut into.
const maxSegments = 1 << 20

// Split gives the ascending end offsets of a body's segments; the last is
// len(body). An empty body has none. A JSON object is cut at the elements of
// its large arrays: what comes before the first element is a segment, each
// element with the separator before it is one, and so is what lies between
// arrays and behind them. Nothing is decoded, and any other body, or what
// follows damage, is one segment.
func (l List) Split(d transcript.Dialect, body []byte) []int {
	if len(body) == 0 {
		return nil
	}
	var ends []int
	if i := rawjson.SkipSpace(body, 0); i < len(body) && body[i] == '{' && l.Of(d) != nil {
		ends = splitObject(l.Of(d), body, i)
	}
	if len(ends) == 0 || ends[len(ends)-1] != len(body) {
		ends = append(ends, len(body))
	}
	return ends
}

func splitObject(a *API, body []byte, i int) []int {
	var ends []int
	cut := func(at int) bool {
		if len(ends) == 0 || at > ends[len(ends)-1] {
			ends = append(ends, at)
		}
		return len(ends) < maxSegments
	}
	for i++; ; {
		i = rawjson.SkipSpace(body, i)
		if i < len(body) && body[i] == ',' {
			i = rawjson.SkipSpace(body, i+1)
		}
		if i >= len(body) || body[i] != '"' {
			return ends
		}
		end := rawjson.SkipString(body, i)
		if end < 0 {
			return ends
		}
		name := rawjson.KeyName(body[i:end])
		if i = rawjson.SkipSpace(body, end); i >= len(body) || body[i] != ':' {
			return ends
		}
		i = rawjson.SkipSpace(body, i+1)
		if i < len(body) && body[i] == '[' && a.repeats(name) {
			i = splitArray(body, i, cut)
		} else {
			i = rawjson.Skip(body, i)
		}
		if i < 0 {
			return ends
		}
	}
}

// splitArray cuts at the elements of the array at body[i] and gives the index
// behind it, -1 if it breaks off.
func splitArray(body []byte, i int, cut func(int) bool) int {
	c := rawjson.Walk(body[i:])
	for first := true; c.Next(); first = false {
		if first && !cut(i+c.Start) || !cut(i+c.End) {
			return -1
		}
	}
	if c.Broken {
		return -1
	}
	return i + c.At
}
