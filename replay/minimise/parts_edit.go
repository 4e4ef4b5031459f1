package minimise

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// edits returns how a candidate differs from the whole request: texts first, then
// what is dropped, from the end on, so that no pointer moves.
func (p *parts) edits(c *candidate) ([]transcript.Edit, error) {
	kept := p.kept(c)
	var edits []transcript.Edit
	for i := range p.texts {
		t := &p.texts[i]
		if !kept[t.piece] || !slices.Contains(c.lines[i], false) {
			continue
		}
		value, err := json.Marshal(t.text(c.lines[i]))
		if err != nil {
			return nil, fmt.Errorf("write text: %w", err)
		}
		edits = append(edits, transcript.Edit{Op: transcript.SetValue, At: t.at, Value: value})
	}
	for _, at := range p.drops(c, kept) {
		edits = append(edits, transcript.Edit{Op: transcript.Drop, At: at})
	}
	return edits, nil
}

// drops returns the pointers of what a candidate has not, the last first.
func (p *parts) drops(c *candidate, kept []bool) []string {
	holds, gone := map[string]bool{}, map[string]bool{}
	all := slices.Concat(p.pieces, p.tools)
	stays := slices.Concat(kept, c.tools)
	for i := range all {
		for _, at := range all[i].chain {
			holds[at] = holds[at] || stays[i]
		}
	}
	for i := range all {
		if stays[i] {
			continue
		}
		for _, at := range slices.Backward(all[i].chain) {
			if !holds[at] {
				gone[at] = true
				break
			}
		}
	}
	if len(p.tools) > 0 && !slices.Contains(c.tools, true) { // they may not stand there without tools
		for _, at := range [...]string{"/tool_choice", "/parallel_tool_calls"} {
			if _, err := rawjson.Value(p.body, at); err == nil {
				gone[at] = true
			}
		}
	}
	var list []string
	for at := range gone {
		list = append(list, at)
	}
	slices.SortFunc(list, func(a, b string) int { return comparePointers(b, a) })
	return list
}

// comparePointers orders JSON pointers by where they lead to, elements by their index.
func comparePointers(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(x, y string) int {
		m, err := strconv.Atoi(x)
		n, err2 := strconv.Atoi(y)
		if err == nil && err2 == nil {
			return m - n
		}
		return strings.Compare(x, y)
	})
}

func chainAt(list string, i int) string { return list + "/" + strconv.Itoa(i) }

// build makes the edits. Bytes are those that Prepare makes of them, but each list is
// gone through once.
func (p *parts) build(edits []transcript.Edit) ([]byte, error) {
	inside := map[string]map[int][]rawjson.Edit{} // by list and element
	var beside []rawjson.Edit
	for _, e := range edits {
		one := rawjson.Edit{Op: rawjson.Set, At: e.At, Value: e.Value}
		if e.Op == transcript.Drop {
			one.Op = rawjson.Delete
		}
		list, i, ok := dialect.ElementAt(e.At)
		if !ok {
			beside = append(beside, one)
			continue
		}
		one.At = strings.TrimPrefix(e.At, chainAt("/"+list, i))
		if inside[list] == nil {
			inside[list] = map[int][]rawjson.Edit{}
		}
		inside[list][i] = append(inside[list][i], one)
	}
	body := p.body
	for list, elements := range inside {
		var err error
		body, err = rawjson.Rewrite(body, "/"+list, func(i int, element json.RawMessage) (json.RawMessage, error) {
			for _, e := range elements[i] {
				if e.At == "" && e.Op == rawjson.Delete {
					return nil, nil
				}
			}
			if len(elements[i]) == 0 {
				return element, nil
			}
			return rawjson.Apply(element, elements[i]...)
		})
		if err != nil {
			return nil, fmt.Errorf("leave out elements of %s: %w", list, err)
		}
	}
	if len(beside) == 0 {
		return body, nil
	}
	return rawjson.Apply(body, beside...)
}
