package safehtml

import (
	"regexp"
	"strconv"
	"strings"
)

// control is an escape sequence of a terminal, whole.
var control = regexp.MustCompile("\x1b\\[([0-9;:?<=>]*)[ -/]*([@-~])")

// style is the current style of the terminal. Colours are the 16 named ones. A
// background is shown as a tint, so that no text can be invisible.
type style struct {
	colour, ground                               int // from 1; 0 for none
	bold, faint, italic, under, inverse, striken bool
}

// terminal shows text with the colours of a terminal. Other sequences, which
// would move the cursor or erase, are shown as marks.
func (m *markup) terminal(s string) {
	var now style
	open := false
	for s != "" {
		at := control.FindStringSubmatchIndex(s)
		if at == nil {
			break
		}
		m.text(s[:at[0]])
		sequence, parameters, final := s[at[0]:at[1]], s[at[2]:at[3]], s[at[4]:at[5]]
		s = s[at[1]:]
		if final != "m" || strings.ContainsAny(parameters, "?<=>") {
			m.mark("⟦ESC" + sequence[1:] + "⟧")
			continue
		}
		next := now
		next.set(parameters)
		if next == now {
			continue
		}
		if open {
			m.close("span")
		}
		if now, open = next, next != (style{}); open {
			m.open("span", now.class())
		}
	}
	m.text(s)
	if open {
		m.close("span")
	}
}

// set applies the parameters of one sequence.
func (t *style) set(parameters string) {
	list := strings.FieldsFunc(parameters, func(r rune) bool { return r == ';' || r == ':' })
	if len(list) == 0 {
		*t = style{}
	}
	for i := 0; i < len(list); i++ {
		n, err := strconv.Atoi(list[i])
		if err != nil {
			continue
		}
		switch n {
		case 38, 48:
			colour, used := extended(list[i+1:])
			i += used
			if n == 38 {
				t.colour = colour
			} else {
				t.ground = colour
			}
		default:
			t.one(n)
		}
	}
}

func (t *style) one(n int) {
	switch {
	case n == 0:
		*t = style{}
	case n == 1:
		t.bold = true
	case n == 2:
		t.faint = true
	case n == 3:
		t.italic = true
	case n == 4:
		t.under = true
	case n == 7:
		t.inverse = true
	case n == 9:
		t.striken = true
	case n == 22:
		t.bold, t.faint = false, false
	case n == 23:
		t.italic = false
	case n == 24:
		t.under = false
	case n == 27:
		t.inverse = false
	case n == 29:
		t.striken = false
	case n >= 30 && n <= 37:
		t.colour = n - 29
	case n == 39:
		t.colour = 0
	case n >= 40 && n <= 47:
		t.ground = n - 39
	case n == 49:
		t.ground = 0
	case n >= 90 && n <= 97:
		t.colour = n - 81
	case n >= 100 && n <= 107:
		t.ground = n - 91
	}
}

// extended reads a colour of 256 or of 16 million. It returns the nearest named
// colour and the number of parameters read.
func extended(list []string) (colour, used int) {
	number := func(i int) int {
		if i >= len(list) {
			return 0
		}
		n, err := strconv.Atoi(list[i])
		if err != nil {
			return 0
		}
		return max(0, min(n, 255))
	}
	switch {
	case len(list) > 0 && list[0] == "5":
		return named(number(1)), 2
	case len(list) > 0 && list[0] == "2":
		return nearest(number(1), number(2), number(3)), 4
	}
	return 0, 0
}

func named(n int) int {
	switch {
	case n < 16:
		return n + 1
	case n >= 232:
		grey := (n - 232) * 255 / 23
		return nearest(grey, grey, grey)
	}
	n -= 16
	return nearest(n/36*51, n/6%6*51, n%6*51)
}

// nearest returns the named colour with similar parts of red, green and blue.
func nearest(r, g, b int) int {
	most := max(r, g, b)
	if most < 48 {
		return 1
	}
	n := 1
	for i, v := range [3]int{r, g, b} {
		if v*3 > most*2 {
			n += 1 << i
		}
	}
	if n == 8 && most < 170 {
		return 9 // grey
	}
	return n
}

var colours = [17]constant{"", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12", "t13", "t14", "t15"}
var grounds = [17]constant{"", "g0", "g1", "g2", "g3", "g4", "g5", "g6", "g7", "g8", "g9", "g10", "g11", "g12", "g13", "g14", "g15"}

func (t *style) class() constant {
	class := constant("")
	add := func(when bool, name constant) {
		if when {
			class += " " + name
		}
	}
	add(t.colour > 0, colours[t.colour])
	add(t.ground > 0, grounds[t.ground])
	add(t.bold, "tb")
	add(t.faint, "tf")
	add(t.italic, "ti")
	add(t.under, "tu")
	add(t.inverse, "tv")
	add(t.striken, "ts")
	if class == "" {
		return class
	}
	return class[1:]
}
