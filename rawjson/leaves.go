package rawjson

import "iter"

// A Leaf is a string or a number inside a JSON text.
type Leaf struct {
	Start, End int      // of its bytes in the text, without quotes
	Names      []string // of the members around it, outermost first; "" for an array. Valid until the next Leaf.
	Number     bool     // digits without sign, fraction or exponent
}

// Name returns the name of the innermost member around the leaf.
func (l *Leaf) Name() string {
	for i := len(l.Names) - 1; i >= 0; i-- {
		if l.Names[i] != "" {
			return l.Names[i]
		}
	}
	return ""
}

// Leaves visits the strings and numbers of a text in order, but not the names of
// members. It goes on after damage, and to the end of a text that is cut off.
func Leaves(text []byte) iter.Seq[*Leaf] {
	return func(yield func(*Leaf) bool) {
		var l leaves
		for i := 0; i < len(text); {
			if i = l.token(text, i); l.found && !yield(&l.leaf) {
				return
			}
		}
	}
}

// leaves is the state between two tokens.
type leaves struct {
	leaf  Leaf
	found bool // the token is a leaf
	open  []level
}

type level struct {
	object bool
	name   bool // a name comes next
}

// token reads the token at text[i] and returns the index after it.
func (l *leaves) token(text []byte, i int) int {
	l.found = false
	n := len(l.open)
	switch c := text[i]; {
	case c == '{' || c == '[':
		l.open = append(l.open, level{c == '{', c == '{'})
		l.leaf.Names = append(l.leaf.Names, "")
	case (c == '}' || c == ']') && n > 0:
		l.open, l.leaf.Names = l.open[:n-1], l.leaf.Names[:n-1]
	case c == ',' && n > 0:
		l.open[n-1].name = l.open[n-1].object
	case c == '"':
		next := SkipString(text, i)
		end := next - 1
		if next < 0 {
			next, end = len(text), len(text)
		}
		if n > 0 && l.open[n-1].name {
			l.leaf.Names[n-1], l.open[n-1].name = string(text[i+1:end]), false
		} else {
			l.leaf.Start, l.leaf.End, l.leaf.Number, l.found = i+1, end, false, true
		}
		return next
	case c >= '0' && c <= '9':
		end := i + 1
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		l.leaf.Start, l.leaf.End, l.leaf.Number, l.found = i, end, true, true
		return end
	}
	return i + 1
}
