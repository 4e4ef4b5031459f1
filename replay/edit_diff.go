package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/transcript"
)

// Difference returns the edits that make of one request body another that a person
// wrote by hand: as few and as small as a comparison from both ends finds. White
// space and the order of members do not count.
func Difference(before, after []byte) ([]transcript.Edit, error) {
	if !json.Valid(after) {
		var v any
		return nil, fmt.Errorf("%w: %w", ErrEdit, json.Unmarshal(after, &v))
	}
	var d difference
	d.values("", before, after)
	made, err := Apply(transcript.Unknown, before, slices.Clone(d.edits))
	if err != nil {
		return nil, err
	}
	if left, ok := analysis.DiffJSON(made, after); !ok || len(left) > 0 {
		return nil, fmt.Errorf("%w: the change at %q cannot be told as an edit (a member that is there twice?)", ErrEdit, firstOf(left))
	}
	return d.edits, nil
}

func firstOf(list []analysis.Difference) string {
	if len(list) == 0 {
		return ""
	}
	return list[0].At
}

type difference struct{ edits []transcript.Edit }

func same(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	list, ok := analysis.DiffJSON(a, b)
	return ok && len(list) == 0
}

func (d *difference) values(at string, a, b json.RawMessage) {
	if same(a, b) {
		return
	}
	var objectA, objectB map[string]json.RawMessage
	var listA, listB []json.RawMessage
	switch {
	case kindOf(a) == '{' && kindOf(b) == '{' && json.Unmarshal(a, &objectA) == nil && json.Unmarshal(b, &objectB) == nil:
		d.objects(at, objectA, objectB)
	case kindOf(a) == '[' && kindOf(b) == '[' && json.Unmarshal(a, &listA) == nil && json.Unmarshal(b, &listB) == nil:
		d.lists(at, listA, listB)
	default:
		d.edit(transcript.SetValue, at, b)
	}
}

func kindOf(v []byte) byte {
	if v = bytes.TrimSpace(v); len(v) > 0 {
		return v[0]
	}
	return 0
}

func (d *difference) edit(op, at string, v json.RawMessage) {
	e := transcript.Edit{Op: op, At: at}
	if v != nil {
		var compact bytes.Buffer
		if json.Compact(&compact, v) == nil {
			e.Value = compact.Bytes()
		}
	}
	d.edits = append(d.edits, e)
}

func (d *difference) objects(at string, a, b map[string]json.RawMessage) {
	for _, name := range sortedNames(a) {
		if v, ok := b[name]; ok {
			d.values(at+pointer(name), a[name], v)
		} else {
			d.edit(transcript.Drop, at+pointer(name), nil)
		}
	}
	for _, name := range sortedNames(b) {
		if _, ok := a[name]; !ok {
			d.edit(transcript.SetValue, at+pointer(name), b[name])
		}
	}
}

func sortedNames(m map[string]json.RawMessage) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// lists compares from both ends. What is between them is changed in its place as far
// as it goes, and then taken out or put in.
func (d *difference) lists(at string, a, b []json.RawMessage) {
	head := 0
	for head < min(len(a), len(b)) && same(a[head], b[head]) {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && same(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	endA, endB := len(a)-tail, len(b)-tail
	both := min(endA, endB)
	for i := head; i < both; i++ {
		d.values(at+"/"+strconv.Itoa(i), a[i], b[i])
	}
	for i := endA - 1; i >= both; i-- {
		d.edit(transcript.Drop, at+"/"+strconv.Itoa(i), nil)
	}
	for i := both; i < endB; i++ {
		d.edit(transcript.Insert, at+"/"+strconv.Itoa(i), b[i])
	}
}
