package rawjson

import "bytes"

// Skip returns the index after the JSON value that begins at b[i], or -1 if the
// value does not end. It trusts its input: it counts brackets without matching
// them and does not look at the bytes between them.
func Skip(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return SkipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	case ',', ':', '}', ']', ' ', '\t', '\r', '\n':
		return -1
	}
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\r', '\n', ':', '"', '{', '[':
			return i
		}
		i++
	}
	return i
}

// SkipString returns the index after the string that begins at b[i], or -1 if the
// string does not end.
func SkipString(b []byte, i int) int {
	start, j := i, i+1
	for near := min(len(b), j+16); j < near && b[j] != '\\'; j++ { // most are short
		if b[j] == '"' {
			return j + 1
		}
	}
	for {
		k := bytes.IndexByte(b[j:], '"')
		if k < 0 {
			return -1
		}
		k += j
		e := k - 1
		for e > start && b[e] == '\\' {
			e--
		}
		if (k-e)%2 == 1 {
			return k + 1
		}
		j = k + 1
	}
}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = SkipString(b, i); i < 0 {
				return -1
			}
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
	return -1
}

// SkipSpace returns the index of the first byte from i on that is not white space.
func SkipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// Present reports whether a value is there and not null.
func Present(v []byte) bool { return len(v) > 0 && v[0] != 'n' }

// IsString reports whether v is a string.
func IsString(v []byte) bool { return len(v) > 1 && v[0] == '"' }

// IsArray reports whether v is an array.
func IsArray(v []byte) bool { return len(v) > 1 && v[0] == '[' }

// IsObject reports whether v is an object.
func IsObject(v []byte) bool { return len(v) > 1 && v[0] == '{' }

// IsEmpty reports whether a value is absent, null, "", [] or {}.
func IsEmpty(v []byte) bool {
	if !Present(v) {
		return true
	}
	switch v[0] {
	case '"':
		return len(v) == 2
	case '[', '{':
		return SkipSpace(v, 1) == len(v)-1
	}
	return false
}

// Describe returns in words what kind of value v is, for messages.
func Describe(v []byte) string {
	switch {
	case IsObject(v):
		return "an object"
	case IsArray(v):
		return "an array"
	case IsString(v):
		return "a string"
	case !Present(v):
		return "null"
	}
	return "neither text nor list"
}
