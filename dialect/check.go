package dialect

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// check reads one JSON value strictly, by the grammar of encoding/json.
type check struct {
	b     []byte
	i     int
	stack []byte // the open brackets
	good  int    // up to here everything is whole; open brackets aside
	depth int    // of the stack at good
	cut   int    // where a string value begins that the end of the input cut; -1 if none
	under int    // how many containers hold the value that is read
	named int    // behind the name that was read last
	room  [24]byte
}

// valid tells whether b is one JSON value and white space.
func valid(b []byte) bool {
	c := check{b: b, cut: -1}
	c.stack = c.room[:0]
	return c.value() && skipSpace(b, c.i) == len(b)
}

// mend gives the JSON value that b begins with: b's own bytes if it is whole,
// else what came before the cut or the damage, with its brackets closed. rest
// is how many bytes of b are not in it (white space aside); whole is false if
// the value was closed by us. A body that begins no value gives nil.
func mend(b []byte) (v []byte, whole bool, rest int) {
	c := check{b: b, cut: -1}
	c.stack = c.room[:0]
	if c.value() {
		start := skipSpace(b, 0)
		end := c.i
		if tail := skipSpace(b, end); tail < len(b) {
			rest = len(b) - end
		}
		return b[start:end:end], true, rest
	}
	if c.good == 0 && c.cut < 0 {
		return nil, false, len(b)
	}
	start := skipSpace(b, 0)
	end, depth := max(c.good, start), c.depth
	v = append(make([]byte, 0, end-start+len(c.stack)+1), b[start:end]...)
	if c.cut >= 0 {
		s := wholeChars(b[c.cut:])
		v = append(append(append(v, b[end:c.cut]...), s...), '"')
		end, depth = c.cut+len(s), len(c.stack)
	}
	for d := depth - 1; d >= 0; d-- {
		v = append(v, c.stack[d]+2) // '{'+2 is '}', '['+2 is ']'
	}
	return v, false, len(b) - end
}

// wholeChars drops an escape or a character that the end cut in two.
func wholeChars(s []byte) []byte {
	for i := 1; i < len(s); {
		n := 1
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == 'u':
			n = 6
			if i+12 > len(s) && i+3 < len(s) && (s[i+2] == 'd' || s[i+2] == 'D') && s[i+3] >= '8' {
				return s[:i] // a high surrogate without its other half
			}
		case s[i] == '\\':
			n = 2
		case s[i] >= utf8.RuneSelf && !utf8.FullRune(s[i:]):
			return s[:i]
		}
		if i+n > len(s) {
			return s[:i]
		}
		i += n
	}
	return s
}

func (c *check) value() bool {
	c.i = skipSpace(c.b, c.i)
	for {
		// a value begins here
		if c.i >= len(c.b) {
			return false
		}
		switch ch := c.b[c.i]; {
		case ch == '{' || ch == '[':
			if c.under+len(c.stack) == maxDepth {
				return false
			}
			c.stack = append(c.stack, ch)
			c.i++
			c.mark()
			c.i = skipSpace(c.b, c.i)
			if c.i < len(c.b) && c.b[c.i] == ch+2 {
				break // empty: closed below
			}
			if ch == '{' && !c.name() {
				return false
			}
			continue
		case ch == '"':
			if start := c.i; !c.str() {
				if c.i >= len(c.b) {
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

// after reads what may follow a value: closing brackets, then a comma and the
// next member's name. more tells whether another value follows.
func (c *check) after() (more, ok bool) {
	for len(c.stack) > 0 {
		c.i = skipSpace(c.b, c.i)
		if c.i >= len(c.b) {
			return false, false
		}
		switch top := c.stack[len(c.stack)-1]; c.b[c.i] {
		case ',':
			c.markAt(c.i)
			c.i = skipSpace(c.b, c.i+1)
			return true, top == '[' || c.name()
		case top + 2:
			c.i++
			c.stack = c.stack[:len(c.stack)-1]
			c.mark()
		default:
			return false, false
		}
	}
	return false, true
}

func (c *check) mark() { c.markAt(c.i) }

func (c *check) markAt(i int) { c.good, c.depth = i, len(c.stack) }

func (c *check) name() bool {
	if c.i >= len(c.b) || c.b[c.i] != '"' || !c.str() {
		return false
	}
	c.named = c.i
	c.i = skipSpace(c.b, c.i)
	if c.i >= len(c.b) || c.b[c.i] != ':' {
		return false
	}
	c.i = skipSpace(c.b, c.i+1)
	return true
}

// str reads a string; it fails with i at the end of the input if that cut it.
func (c *check) str() bool {
	b, i := c.b, c.i+1
	for {
		if i += plain(b[i:]); i >= len(b) {
			c.i = i
			return false
		}
		switch b[i] {
		case '"':
			c.i = i + 1
			return true
		case '\\':
			n := escape(b[i:])
			if n <= 0 {
				if c.i = i; n < 0 {
					c.i = len(b)
				}
				return false
			}
			i += n
		default: // a control character
			c.i = i
			return false
		}
	}
}

// escapeControls gives b with the control characters in its strings escaped, as
// JSON wants them, and how many there are.
func escapeControls(b []byte) (fixed []byte, n int) {
	from, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			quoted = !quoted
		case !quoted:
		case c == '\\':
			i++
		case c < 0x20:
			fixed = fmt.Appendf(append(fixed, b[from:i]...), `\u%04x`, c)
			from = i + 1
			n++
		}
	}
	return append(fixed, b[from:]...), n
}

// plain gives how many bytes of b come before a quote, a backslash or a
// control character. It looks at eight at a time.
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

// escape gives the length of the escape that b begins with, 0 if it is none,
// -1 if the input ends inside.
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

func (c *check) digits() bool {
	start := c.i
	for c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9' {
		c.i++
	}
	return c.i > start
}

func (c *check) number() bool {
	if c.b[c.i] == '-' {
		c.i++
	}
	if c.i < len(c.b) && c.b[c.i] == '0' {
		c.i++
	} else if !c.digits() {
		return false
	}
	if c.i < len(c.b) && c.b[c.i] == '.' {
		if c.i++; !c.digits() {
			return false
		}
	}
	if c.i < len(c.b) && (c.b[c.i] == 'e' || c.b[c.i] == 'E') {
		if c.i++; c.i < len(c.b) && (c.b[c.i] == '+' || c.b[c.i] == '-') {
			c.i++
		}
		if !c.digits() {
			return false
		}
	}
	return true
}

func (c *check) literal() bool {
	for _, w := range [...]string{"true", "false", "null"} {
		if len(c.b)-c.i >= len(w) && string(c.b[c.i:c.i+len(w)]) == w {
			c.i += len(w)
			return true
		}
	}
	return false
}
