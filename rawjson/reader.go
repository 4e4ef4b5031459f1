package rawjson

import (
	"encoding/binary"
	"math/bits"
)

// Reader reads JSON strictly, by the grammar of encoding/json, whose limit of 10,000
// levels it does not have. A method that
// fails leaves At at the damage.
type Reader struct {
	Text  []byte
	At    int    // index of the next byte
	stack []byte // open brackets
	good  int    // everything before it is complete, except for open brackets
	depth int    // of the stack at good
	cut   int    // start of a string value that the input's end cuts off; -1 if none
	room  [24]byte
}

// Init makes the Reader read text, from its first byte that is not white space.
func (c *Reader) Init(text []byte) {
	c.Text, c.At, c.cut = text, SkipSpace(text, 0), -1
	c.stack = c.room[:0]
}

// Name reads a member's name and the colon after it.
func (c *Reader) Name() (name []byte, ok bool) {
	start := c.At
	end := c.name()
	if end < 0 {
		return nil, false
	}
	return KeyName(c.Text[start:end]), true
}

// ReadValue reads a value inside a container.
func (c *Reader) ReadValue() bool {
	c.stack = c.stack[:0]
	return c.value()
}

// Separator reads what follows a value inside a container: a comma, and more is
// true, or the closing bracket.
func (c *Reader) Separator(closing byte) (more, ok bool) {
	if c.At = SkipSpace(c.Text, c.At); c.At >= len(c.Text) {
		return false, false
	}
	switch c.Text[c.At] {
	case ',':
		c.At = SkipSpace(c.Text, c.At+1)
		return true, true
	case closing:
		c.At++
		return false, true
	}
	return false, false
}

// Valid reports whether b is one JSON value, white space aside.
func Valid(b []byte) bool {
	c := Reader{Text: b, cut: -1}
	c.stack = c.room[:0]
	return c.value() && SkipSpace(b, c.At) == len(b)
}

func (c *Reader) value() bool {
	c.At = SkipSpace(c.Text, c.At)
	for {
		// a value begins here
		if c.At >= len(c.Text) {
			return false
		}
		switch ch := c.Text[c.At]; {
		case ch == '{' || ch == '[':
			c.stack = append(c.stack, ch)
			c.At++
			c.mark()
			c.At = SkipSpace(c.Text, c.At)
			if c.At < len(c.Text) && c.Text[c.At] == ch+2 {
				break // empty: closed below
			}
			if ch == '{' && c.name() < 0 {
				return false
			}
			continue
		case ch == '"':
			if start := c.At; !c.str() {
				if c.At >= len(c.Text) {
					c.cut = start
				}
				return false
			}
			c.mark()
		case ch == '-' || ch >= '0' && ch <= '9':
			if !c.number() {
				return false
			}
		default:
			if !c.literal() {
				return false
			}
			c.mark()
		}
		more, ok := c.after()
		if !ok || !more {
			return ok
		}
	}
}

// after reads what may follow a value: closing brackets, then a comma and the next
// member's name. more reports whether another value follows.
func (c *Reader) after() (more, ok bool) {
	for len(c.stack) > 0 {
		c.At = SkipSpace(c.Text, c.At)
		if c.At >= len(c.Text) {
			return false, false
		}
		switch top := c.stack[len(c.stack)-1]; c.Text[c.At] {
		case ',':
			c.markAt(c.At)
			c.At = SkipSpace(c.Text, c.At+1)
			return true, top == '[' || c.name() >= 0
		case top + 2:
			c.At++
			c.stack = c.stack[:len(c.stack)-1]
			c.mark()
		default:
			return false, false
		}
	}
	return false, true
}

func (c *Reader) mark() { c.markAt(c.At) }

func (c *Reader) markAt(i int) { c.good, c.depth = i, len(c.stack) }

// name reads a name and its colon. It returns the end of the name, -1 on failure.
func (c *Reader) name() int {
	if c.At >= len(c.Text) || c.Text[c.At] != '"' || !c.str() {
		return -1
	}
	end := c.At
	c.At = SkipSpace(c.Text, end)
	if c.At >= len(c.Text) || c.Text[c.At] != ':' {
		return -1
	}
	c.At = SkipSpace(c.Text, c.At+1)
	return end
}

// str reads a string. If the input ends inside it, it fails with At at that end.
func (c *Reader) str() bool {
	b, i := c.Text, c.At+1
	for {
		if i += plain(b[i:]); i >= len(b) {
			c.At = i
			return false
		}
		switch b[i] {
		case '"':
			c.At = i + 1
			return true
		case '\\':
			n := escape(b[i:])
			if n <= 0 {
				if c.At = i; n < 0 {
					c.At = len(b)
				}
				return false
			}
			i += n
		default: // a control character
			c.At = i
			return false
		}
	}
}

// plain returns how many bytes of b come before a quote, a backslash or a control
// character. It looks at eight at a time.
func plain(b []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		control := (w - ones*0x20) & ^w
		if m := (control | (quote-ones)&^quote | (slash-ones)&^slash) & highs; m != 0 {
			// borrows only reach upwards: the lowest mark is always a true one
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// escape returns the length of the escape that b begins with, 0 if it is not one,
// -1 if the input ends inside it.
func escape(b []byte) int {
	if len(b) < 2 {
		return -1
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		for k := 2; k < 6; k++ {
			if k >= len(b) {
				return -1
			}
			if hexDigit(b[k]) < 0 {
				return 0
			}
		}
		return 6
	}
	return 0
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func (c *Reader) digits() bool {
	start := c.At
	for c.At < len(c.Text) && c.Text[c.At] >= '0' && c.Text[c.At] <= '9' {
		c.At++
	}
	return c.At > start
}

func (c *Reader) number() bool {
	if c.Text[c.At] == '-' {
		c.At++
	}
	if c.At < len(c.Text) && c.Text[c.At] == '0' {
		c.At++
	} else if !c.digits() {
		return false
	}
	if c.At < len(c.Text) && c.Text[c.At] == '.' {
		if c.At++; !c.digits() {
			return false
		}
	}
	if c.At < len(c.Text) && (c.Text[c.At] == 'e' || c.Text[c.At] == 'E') {
		if c.At++; c.At < len(c.Text) && (c.Text[c.At] == '+' || c.Text[c.At] == '-') {
			c.At++
		}
		if !c.digits() {
			return false
		}
	}
	return true
}

func (c *Reader) literal() bool {
	for _, w := range [...]string{"true", "false", "null"} {
		if len(c.Text)-c.At >= len(w) && string(c.Text[c.At:c.At+len(w)]) == w {
			c.At += len(w)
			return true
		}
	}
	return false
}
