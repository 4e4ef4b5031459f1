package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Rewrite gives body with the elements of the array at a JSON pointer as each gives
// them back; what it gives back nil is left out. It reads the body once, and gives the
// bytes that Apply would after as many replacements, and deletions from the end on.
// ErrNoValue if there is no array.
func Rewrite(body []byte, pointer string, each func(i int, element json.RawMessage) (json.RawMessage, error)) ([]byte, error) {
	if !valid(body) {
		return nil, errors.New("rewrite elements: the body is not JSON")
	}
	path, err := tokens(pointer)
	var at place
	if err == nil {
		at, err = locate(body, path)
	}
	if err == nil && body[at.start] != '[' {
		err = ErrNoValue
	}
	if err != nil {
		return nil, fmt.Errorf("rewrite elements of %s: %w", pointer, err)
	}
	out := slices.Grow([]byte(nil), len(body))
	out = append(out, body[:at.start]...)
	elements := body[at.start:at.end]
	copied := 1            // what comes before is in out, or left out
	kept, gone := 0, false // whether one was left out since the last that was kept
	out = append(out, '[')
	for c, i := walk(elements), 0; c.next(); i++ {
		v, err := each(i, elements[c.start:c.end:c.end])
		if err != nil {
			return nil, err
		}
		if v == nil {
			if !gone { // what separates it from the one before serves the next one
				out = append(out, elements[copied:c.head]...)
			}
			gone, copied = true, c.end
			continue
		}
		if !gone {
			out = append(out, elements[copied:c.head]...)
		}
		out = append(out, v...)
		kept, copied, gone = len(out), c.end, false
	}
	if gone { // nothing came behind it
		if kept == 0 {
			kept = at.start + 1
		}
		out = out[:kept]
	}
	out = append(out, elements[copied:]...)
	return append(out, body[at.end:]...), nil
}
