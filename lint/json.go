package lint

import (
	"bytes"
	"encoding/json"
	"iter"
)

// members goes over the members of an object. It trusts that raw is JSON, as
// what a Turn holds is; over anything else it finds none.
func members(raw []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if !isObject(raw) {
			return
		}
		for i := 1; ; {
			i = space(raw, i)
			if i >= len(raw) || raw[i] != '"' {
				return
			}
			end := pass(raw, i)
			key := raw[i:end]
			i = space(raw, end)
			if i >= len(raw) || raw[i] != ':' {
				return
			}
			start := space(raw, i+1)
			i = pass(raw, start)
			if !yield(text(key), raw[start:i:i]) {
				return
			}
			if i = space(raw, i); i >= len(raw) || raw[i] != ',' {
				return
			}
			i++
		}
	}
}

// elements goes over the elements of an array, likewise.
func elements(raw []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		if !isArray(raw) {
			return
		}
		for n, i := 0, 1; ; n++ {
			start := space(raw, i)
			if start >= len(raw) || raw[start] == ']' {
				return
			}
			i = pass(raw, start)
			if !yield(n, raw[start:i:i]) {
				return
			}
			if i = space(raw, i); i >= len(raw) || raw[i] != ',' {
				return
			}
			i++
		}
	}
}

// member gives the value under a path of names, nil if there is none.
func member(raw []byte, path ...string) []byte {
	for _, name := range path {
		var found []byte
		for key, v := range members(raw) {
			if key == name {
				found = v
			}
		}
		if raw = found; raw == nil {
			return nil
		}
	}
	return raw
}

// pass gives the place behind the value at i.
func pass(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return passString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				i = passString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return i
	}
	for i < len(b) && bytes.IndexByte([]byte(",:]} \t\r\n"), b[i]) < 0 {
		i++
	}
	return i
}

func passString(b []byte, i int) int {
	for i++; i < len(b); {
		k := bytes.IndexByte(b[i:], '"')
		if k < 0 {
			return len(b)
		}
		k += i
		e := k
		for e > i && b[e-1] == '\\' {
			e--
		}
		if i = k + 1; (k-e)%2 == 0 {
			return i
		}
	}
	return len(b)
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// text gives what a string says, "" of anything else.
func text(raw []byte) string {
	if !isString(raw) {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func has(raw []byte) bool      { return len(raw) > 0 && raw[0] != 'n' }
func isString(raw []byte) bool { return len(raw) > 1 && raw[0] == '"' }
func isArray(raw []byte) bool  { return len(raw) > 1 && raw[0] == '[' }
func isObject(raw []byte) bool { return len(raw) > 1 && raw[0] == '{' }

// says tells whether a value is one that a program takes for yes.
func says(raw []byte) bool {
	switch string(raw) {
	case "", "null", "false", "0", `""`, "{}", "[]":
		return false
	}
	return true
}
