package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Op is what an Edit does.
type Op string

// The operations of an Edit.
const (
	Replace Op = "replace"
	Insert  Op = "insert" // before the element at At; the length, or "-", appends; a new member comes last
	Delete  Op = "delete"
	Set     Op = "set" // replaces a value; a new member comes last
)

// Edit is one change to a JSON body: an operation at a JSON pointer (RFC 6901).
type Edit struct {
	Op    Op              `json:"op"`
	At    string          `json:"at"`
	Value json.RawMessage `json:"value,omitempty"`
}

// Apply makes the edits one after the other. Bytes outside the edited values stay
// as they are: white space, the order of members, the digits of numbers. A deletion
// removes one comma; an insertion copies the spacing of its neighbours. body itself
// does not change. The error is ErrNoValue if a pointer leads nowhere.
func Apply(body []byte, edits ...Edit) ([]byte, error) {
	if !Valid(body) {
		return nil, errors.New("edit body: not JSON")
	}
	for _, e := range edits {
		if e.Op != Delete && !Valid(e.Value) {
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

func replace(body []byte, pointer string, value []byte) ([]byte, error) {
	at, err := Locate(body, pointer)
	if err != nil {
		return nil, err
	}
	return Splice(body, at.Start, at.End, value), nil
}

func set(body []byte, pointer string, value []byte) ([]byte, error) {
	out, err := replace(body, pointer, value)
	if !errors.Is(err, ErrNoValue) {
		return out, err
	}
	if in, _, err := container(body, pointer); err != nil || body[in.Start] != '{' {
		return nil, ErrNoValue
	}
	return insert(body, pointer, value)
}

func insert(body []byte, pointer string, value []byte) ([]byte, error) {
	in, last, err := container(body, pointer)
	if err != nil {
		return nil, err
	}
	s := spacingOf(body, in)
	switch body[in.Start] {
	case '{':
		if at, ok := Child(body, in, last); ok {
			return Splice(body, at.Start, at.End, value), nil
		}
		if s.n == 0 {
			return Splice(body, s.end, s.end, Quote(last), s.colon, value), nil
		}
		return Splice(body, s.end, s.end, s.comma, Quote(last), s.colon, value), nil
	case '[':
		i, err := strconv.Atoi(last)
		if last == "-" {
			i, err = s.n, nil
		}
		switch {
		case err != nil || i < 0 || i > s.n || last != "-" && strconv.Itoa(i) != last:
			return nil, ErrNoValue
		case s.n == 0:
			return Splice(body, s.end, s.end, value), nil
		case i == s.n:
			return Splice(body, s.end, s.end, s.comma, value), nil
		}
		return Splice(body, s.places[i], s.places[i], value, s.comma), nil
	}
	return nil, ErrNoValue
}

func remove(body []byte, pointer string) ([]byte, error) {
	in, last, err := container(body, pointer)
	if err != nil {
		return nil, err
	}
	at, ok := Child(body, in, last)
	if !ok {
		return nil, ErrNoValue
	}
	before := in.Start + 1 // end of the value before it
	for c := Walk(body[in.Start:in.End]); c.Next(); {
		switch head := in.Start + c.head; {
		case head < at.Head:
			before = in.Start + c.End
		case head > at.Head: // the next value moves here
			return Splice(body, at.Head, head), nil
		}
	}
	return Splice(body, before, at.End), nil
}

// Splice returns body with the bytes from start to end replaced by the parts.
func Splice(body []byte, start, end int, parts ...[]byte) []byte {
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

// container returns where the parent of the value at a pointer lies, and the
// pointer's last token.
func container(body []byte, pointer string) (at Span, last string, err error) {
	path, err := Tokens(pointer)
	if err != nil {
		return Span{}, "", err
	}
	if len(path) == 0 {
		return Span{}, "", errors.New("only replace takes the whole body")
	}
	at, err = follow(body, path[:len(path)-1])
	return at, path[len(path)-1], err
}

// spacing is the white space of a container.
type spacing struct {
	n      int
	first  []byte // before the first value
	comma  []byte // between the last two values, the comma included
	colon  []byte // between the last key and its value
	end    int    // of the last value
	places []int  // heads of the values, of an array
}

func spacingOf(body []byte, in Span) spacing {
	s := spacing{comma: []byte(","), colon: []byte(":"), end: in.Start + 1}
	for c := Walk(body[in.Start:in.End]); c.Next(); s.n++ {
		head := in.Start + c.head
		if s.n == 0 {
			s.first = body[s.end:head]
			s.comma = append([]byte(","), s.first...)
		} else {
			s.comma = body[s.end:head]
		}
		if c.Object {
			s.colon = body[SkipString(body, head) : in.Start+c.Start]
		} else {
			s.places = append(s.places, head)
		}
		s.end = in.Start + c.End
	}
	return s
}

// Tail returns where the last value of a container ends, and what to write between
// it and a new one. comma is nil if the container is empty.
func Tail(body []byte, in Span) (end int, comma []byte) {
	s := spacingOf(body, in)
	if s.n == 0 {
		return s.end, nil
	}
	return s.end, s.comma
}
