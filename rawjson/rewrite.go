package rawjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Rewrite calls each for every element of the array at a JSON pointer and returns
// body with what it returned in the element's place; nil deletes the element. It
// reads body once, and returns the bytes that Apply would after as many edits. The
// error is ErrNoValue if there is no array at the pointer.
func Rewrite(body []byte, pointer string, each func(i int, element json.RawMessage) (json.RawMessage, error)) ([]byte, error) {
	if !Valid(body) {
		return nil, errors.New("rewrite elements: the body is not JSON")
	}
	at, err := Locate(body, pointer)
	if err == nil && body[at.Start] != '[' {
		err = ErrNoValue
	}
	if err != nil {
		return nil, fmt.Errorf("rewrite elements of %s: %w", pointer, err)
	}
	out := slices.Grow([]byte(nil), len(body))
	out = append(out, body[:at.Start]...)
	elements := body[at.Start:at.End]
	copied := 1            // what lies before it is in out or deleted
	kept, gone := 0, false // length of out after the last kept element; whether one was deleted since
	out = append(out, '[')
	for c, i := Walk(elements), 0; c.Next(); i++ {
		v, err := each(i, elements[c.Start:c.End:c.End])
		if err != nil {
			return nil, err
		}
		if v == nil {
			if !gone { // its separator serves the next one
				out = append(out, elements[copied:c.head]...)
			}
			gone, copied = true, c.End
			continue
		}
		if !gone {
			out = append(out, elements[copied:c.head]...)
		}
		out = append(out, v...)
		kept, copied, gone = len(out), c.End, false
	}
	if gone { // nothing comes after it
		if kept == 0 {
			kept = at.Start + 1
		}
		out = out[:kept]
	}
	out = append(out, elements[copied:]...)
	return append(out, body[at.End:]...), nil
}
