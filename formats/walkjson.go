package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// walker goes through a JSON document of any size without holding it: the
// elements of some arrays are given out one by one, members of objects on the way
// to them are too if they are short.
type walker struct {
	d *json.Decoder
	// element takes an element of an array by the name of the array's member, "" for
	// one that is in no object. It is not asked for arrays that it does not want.
	wants   func(name string) bool
	element func(name string, raw json.RawMessage) error
	member  func(name string, raw json.RawMessage) // of an object on the way; may be nil
	depth   int
}

const deepestWalk = 64

// errCut says that a document breaks off, or is none.
var errCut = errors.New("the document breaks off or is no JSON")

// document goes through the next document. io.EOF if there is none.
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

// onTheWay are members that are gone into rather than read whole.
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

// elements gives the elements of the named arrays of a file to f; what f cannot
// read is told and skipped. A document that breaks off is told at the end.
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

// compact writes JSON without white space between its tokens.
func compact(raw []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	return out.Bytes()
}
