package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrNoValue says that there is no value at a JSON pointer.
var ErrNoValue = errors.New("no value at that pointer")

// Span is where a value lies in a body. Head is where its key begins if it is a
// member, else it equals Start.
type Span struct{ Head, Start, End int }

// Value returns the value at a JSON pointer as it is written. The error is
// ErrNoValue if there is none.
func Value(body []byte, pointer string) (json.RawMessage, error) {
	if !Valid(body) {
		return nil, errors.New("read value: the body is not JSON")
	}
	at, err := Locate(body, pointer)
	if err != nil {
		return nil, fmt.Errorf("read value at %s: %w", pointer, err)
	}
	return bytes.Clone(body[at.Start:at.End]), nil
}

// Locate returns where the value at a JSON pointer lies in body, which must be
// valid. The error is ErrNoValue if there is none. Of members with the same name
// the pointer means the last.
func Locate(body []byte, pointer string) (Span, error) {
	path, err := Tokens(pointer)
	if err != nil {
		return Span{}, err
	}
	return follow(body, path)
}

func follow(body []byte, path []string) (Span, error) {
	start := SkipSpace(body, 0)
	at := Span{start, start, Skip(body, start)}
	for _, token := range path {
		var ok bool
		if at, ok = Child(body, at, token); !ok {
			return at, ErrNoValue
		}
	}
	return at, nil
}

// Child returns the value under one token of the container at a Span.
func Child(body []byte, at Span, token string) (Span, bool) {
	found, ok := Span{}, false
	c := Walk(body[at.Start:at.End])
	index := -1
	if !c.Object {
		if n, err := strconv.Atoi(token); err == nil && strconv.Itoa(n) == token {
			index = n
		}
	}
	for n := 0; c.Next(); n++ {
		if c.Object && string(c.Key()) == token || n == index {
			found, ok = Span{at.Start + c.head, at.Start + c.Start, at.Start + c.End}, true
			if !c.Object {
				break
			}
		}
	}
	return found, ok
}

// Tokens splits a JSON pointer.
func Tokens(pointer string) ([]string, error) {
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

// EscapeToken returns a name as a token of a JSON pointer.
func EscapeToken(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
