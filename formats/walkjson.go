package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// walker reads a JSON document of any size without holding it. It visits the elements
// of some arrays one by one, and the members of the objects that lead to them.
type walker struct {
	d *json.Decoder
	// element receives an element, with the name of the array's member, "" for an
	// array that is not in an object. It is called only for arrays that wants
	// accepts.
	wants   func(name string) bool
	element func(name string, raw json.RawMessage) error
	member  func(name string, raw json.RawMessage) // receives a member of an object on the way; may be nil
	depth   int
}

const deepestWalk = 64

// errCut says that a document is cut off, or not JSON.
var errCut = errors.New("the document is cut off or not JSON")

// document reads the next document. It returns io.EOF if there is none.
func (w *walker) document() error {
	t, err := w.d.Token()
	if err == io.EOF {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	return w.value("", t)
}

func (w *walker) value(name string, t json.Token) error {
	delim, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	if w.depth++; w.depth > deepestWalk {
		return fmt.Errorf("%w: it is nested too deep", errCut)
	}
	defer func() { w.depth-- }()
	if delim == '[' {
		return w.array(name)
	}
	for w.d.More() {
		t, err := w.d.Token()
		if err != nil {
			return fmt.Errorf("%w: %w", errCut, err)
		}
		key, _ := t.(string)
		if w.member != nil && !w.wants(key) && !onTheWay(key) {
			var raw json.RawMessage
			if err := w.d.Decode(&raw); err != nil {
				return fmt.Errorf("%w: %w", errCut, err)
			}
			w.member(key, raw)
			continue
		}
		if t, err = w.d.Token(); err != nil {
			return fmt.Errorf("%w: %w", errCut, err)
		}
		if err := w.value(key, t); err != nil {
			return err
		}
	}
	return w.end()
}

// onTheWay reports whether the walker goes into a member instead of reading it whole.
func onTheWay(name string) bool {
	switch name {
	case "log", "resourceSpans", "scopeSpans":
		return true
	}
	return false
}

func (w *walker) array(name string) error {
	wanted := w.wants(name)
	for w.d.More() {
		if !wanted {
			t, err := w.d.Token()
			if err != nil {
				return fmt.Errorf("%w: %w", errCut, err)
			}
			if err := w.value(name, t); err != nil {
				return err
			}
			continue
		}
		var raw json.RawMessage
		if err := w.d.Decode(&raw); err != nil {
			return fmt.Errorf("%w: %w", errCut, err)
		}
		if err := w.element(name, raw); err != nil {
			return err
		}
	}
	return w.end()
}

func (w *walker) end() error {
	if _, err := w.d.Token(); err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	return nil
}

// elements calls f for the elements of the named arrays of a file. An element that f
// cannot read is reported and skipped. A document that is cut off is reported at its
// end.
func (s *Source) elements(names []string, member func(string, json.RawMessage), f func(name string, raw json.RawMessage) error) error {
	n := int64(0)
	w := &walker{d: json.NewDecoder(s.Reader), member: member,
		wants: func(name string) bool {
			for _, wanted := range names {
				if wanted == name {
					return true
				}
			}
			return false
		}}
	w.element = func(name string, raw json.RawMessage) error {
		n++
		err := f(name, raw)
		if errors.Is(err, errBadRecord) {
			s.Bad(n, err)
			return nil
		}
		return err
	}
	for {
		err := w.document()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, errCut):
			s.Bad(n+1, err)
			return nil
		case err != nil:
			return err
		}
	}
}

// compact returns JSON without white space between its tokens.
func compact(raw []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	return out.Bytes()
}
