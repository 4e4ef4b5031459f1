package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrNoValue says that a body holds no value at that JSON pointer.
var ErrNoValue = errors.New("no value at that pointer")

// Op is what an Edit does.
type Op string

// The operations of an Edit.
const (
	Replace Op = "replace"
	Insert  Op = "insert" // before the element at At; an index equal to the length, or "-", appends; a new member is put last
	Delete  Op = "delete"
	Set     Op = "set" // replaces; a member that is not there is put last
)

// Edit is one change to a JSON body: an operation at a JSON pointer (RFC 6901).
type Edit struct {
	Op    Op              `json:"op"`
	At    string          `json:"at"`
	Value json.RawMessage `json:"value,omitempty"`
}

// Apply makes the edits one after the other. Bytes outside the edited values
// stay as they are: white space, the order of members, the text of numbers. A
// deletion takes one comma with it; what is inserted copies the spacing of its
// neighbours. The body itself is not changed. ErrNoValue if a pointer leads
// nowhere; of members with the same name it leads to the last.
func Apply(body []byte, edits ...Edit) ([]byte, error) {
	if !valid(body) {
		return nil, errors.New("edit body: not JSON")
	}
	for _, e := range edits {
		if e.Op != Delete && !valid(e.Value) {
			return nil, fmt.Errorf("%s %s: the new value is not JSON", e.Op, e.At)
		}
		var err error
		switch value := bytes.TrimSpace(e.Value); e.Op {
		case Replace:
			body, err = replace(body, e.At, value)
		case Insert:
			body, err = insert(body, e.At, value)
		case Delete:
			body, err = remove(body, e.At)
		case Set:
			body, err = set(body, e.At, value)
		default:
			err = errors.New("unknown operation")
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", e.Op, e.At, err)
		}
	}
	return body, nil
}

// splice gives body with its bytes from start to end replaced.
func splice(body []byte, start, end int, parts ...[]byte) []byte {
	n := len(body) - (end - start)
	for _, p := range parts {
		n += len(p)
	}
	out := append(make([]byte, 0, n), body[:start]...)
	for _, p := range parts {
		out = append(out, p...)
	}
	return append(out, body[end:]...)
}

// tokens splits a JSON pointer.
func tokens(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, nil
	}
	if pointer[0] != '/' {
		return nil, errors.New("a pointer begins with /")
	}
	parts := strings.Split(pointer[1:], "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
	}
	return parts, nil
}

// place is where a value stands in a body. head is where its key begins if it
// is a member.
type place struct{ head, start, end int }

// step goes from a container to the value under one token.
func step(body []byte, at place, token string) (place, bool) {
	found, ok := place{}, false
	n := 0
	for c := walk(body[at.start:at.end]); c.next(); n++ {
		if c.object && string(c.key()) == token || !c.object && strconv.Itoa(n) == token {
			found, ok = place{at.start + c.head, at.start + c.start, at.start + c.end}, true
		}
	}
	return found, ok
}

func locate(body []byte, path []string) (place, error) {
	start := skipSpace(body, 0)
	at := place{start, start, skip(body, start)}
	for _, token := range path {
		var ok bool
		if at, ok = step(body, at, token); !ok {
			return at, ErrNoValue
		}
	}
	return at, nil
}

func replace(body []byte, pointer string, value []byte) ([]byte, error) {
	path, err := tokens(pointer)
	if err != nil {
		return nil, err
	}
	at, err := locate(body, path)
	if err != nil {
		return nil, err
	}
	return splice(body, at.start, at.end, value), nil
}

func set(body []byte, pointer string, value []byte) ([]byte, error) {
	out, err := replace(body, pointer, value)
	if !errors.Is(err, ErrNoValue) {
		return out, err
	}
	if in, _, err := container(body, pointer); err != nil || body[in.start] != '{' {
		return nil, ErrNoValue
	}
	return insert(body, pointer, value)
}

// Value gives the value at a JSON pointer as it is written. ErrNoValue if there is
// none.
func Value(body []byte, pointer string) (json.RawMessage, error) {
	if !valid(body) {
		return nil, errors.New("read value: the body is not JSON")
	}
	path, err := tokens(pointer)
	if err != nil {
		return nil, fmt.Errorf("read value at %s: %w", pointer, err)
	}
	at, err := locate(body, path)
	if err != nil {
		return nil, fmt.Errorf("read value at %s: %w", pointer, err)
	}
	return bytes.Clone(body[at.start:at.end]), nil
}

// container finds what holds the value a pointer speaks of, and its last token.
func container(body []byte, pointer string) (at place, last string, err error) {
	path, err := tokens(pointer)
	if err != nil {
		return place{}, "", err
	}
	if len(path) == 0 {
		return place{}, "", errors.New("only replace takes the whole body")
	}
	at, err = locate(body, path[:len(path)-1])
	return at, path[len(path)-1], err
}

func remove(body []byte, pointer string) ([]byte, error) {
	in, last, err := container(body, pointer)
	if err != nil {
		return nil, err
	}
	at, ok := step(body, in, last)
	if !ok {
		return nil, ErrNoValue
	}
	before := in.start + 1 // end of the value before it
	for c := walk(body[in.start:in.end]); c.next(); {
		switch head := in.start + c.head; {
		case head < at.head:
			before = in.start + c.end
		case head > at.head: // there is a value behind it: its head moves here
			return splice(body, at.head, head), nil
		}
	}
	return splice(body, before, at.end), nil
}

// spacing is how the values of a container are set apart.
type spacing struct {
	n      int
	first  []byte // before the first value
	comma  []byte // between the last two values, the comma included
	colon  []byte // between the last key and its value
	end    int    // behind the last value
	places []int  // heads of the values, of an array
}

func spacingOf(body []byte, in place) spacing {
	s := spacing{comma: []byte(","), colon: []byte(":"), end: in.start + 1}
	for c := walk(body[in.start:in.end]); c.next(); s.n++ {
		head := in.start + c.head
		if s.n == 0 {
			s.first = body[s.end:head]
			s.comma = append([]byte(","), s.first...)
		} else {
			s.comma = body[s.end:head]
		}
		if c.object {
			s.colon = body[skipString(body, head) : in.start+c.start]
		} else {
			s.places = append(s.places, head)
		}
		s.end = in.start + c.end
	}
	return s
}

func insert(body []byte, pointer string, value []byte) ([]byte, error) {
	in, last, err := container(body, pointer)
	if err != nil {
		return nil, err
	}
	s := spacingOf(body, in)
	switch body[in.start] {
	case '{':
		if at, ok := step(body, in, last); ok {
			return splice(body, at.start, at.end, value), nil
		}
		if s.n == 0 {
			return splice(body, s.end, s.end, quote(last), s.colon, value), nil
		}
		return splice(body, s.end, s.end, s.comma, quote(last), s.colon, value), nil
	case '[':
		i, err := strconv.Atoi(last)
		if last == "-" {
			i, err = s.n, nil
		}
		switch {
		case err != nil || i < 0 || i > s.n || last != "-" && strconv.Itoa(i) != last:
			return nil, ErrNoValue
		case s.n == 0:
			return splice(body, s.end, s.end, value), nil
		case i == s.n:
			return splice(body, s.end, s.end, s.comma, value), nil
		}
		return splice(body, s.places[i], s.places[i], value, s.comma), nil
	}
	return nil, ErrNoValue
}
