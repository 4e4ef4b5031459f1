package api

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Elements gives, for each large array of a request body, where its elements
// end: the cuts of Split that are the ends of elements.
func (l List) Elements(d transcript.Dialect, body []byte) map[string][]int {
	ends, a := map[string][]int{}, l.Of(d)
	i := rawjson.SkipSpace(body, 0)
	if i == len(body) || body[i] != '{' {
		return ends
	}
	for c := rawjson.Walk(body[i:]); c.Next(); {
		name := c.Key()
		if !a.repeats(name) {
			continue
		}
		var list []int
		for e := rawjson.Walk(c.Value()); !e.Object && e.Next(); {
			list = append(list, i+c.Start+e.End)
		}
		ends[string(name)] = list
	}
	return ends
}

// ElementAt splits the JSON pointer of an item of a request: the array that it
// lies in, and the index of its element there.
func ElementAt(at string) (member string, index int, ok bool) {
	member, rest, ok := strings.Cut(strings.TrimPrefix(at, "/"), "/")
	if !ok {
		return "", 0, false
	}
	digits, _, _ := strings.Cut(rest, "/")
	index, err := strconv.Atoi(digits)
	return member, index, err == nil && index >= 0
}

// DecodeElement reads one element of a request as Decode does: the items that
// are in it. piece is a segment of the body, with the separator before the
// element; at is the pointer of any item in it. Nothing if it is no element.
func (l List) DecodeElement(d transcript.Dialect, at string, piece []byte) []transcript.Item {
	member, index, ok := ElementAt(at)
	if !ok || !l.Of(d).repeats([]byte(member)) {
		return nil
	}
	piece = bytes.TrimSpace(piece)
	piece = bytes.TrimPrefix(piece, []byte(","))
	if !rawjson.Valid(piece) {
		return nil
	}
	body := slices.Concat([]byte(`{"`+member+`":[`), piece, []byte("]}"))
	items := l.Decode(d, &Wire{Request: body}).Input
	return moved(items, "/"+member+"/0", "/"+member+"/"+strconv.Itoa(index))
}
