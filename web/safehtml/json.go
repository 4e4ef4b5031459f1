package safehtml

import (
	"encoding/json"
	"strings"
)

const (
	foldFrom   = 12 // lines of an object or array that can be closed
	closedFrom = 40 // lines of one that is closed at first
	deepest    = 60 // levels that get elements of their own
)

// json shows JSON as laid out by encoding/json.Indent, or the beginning of it. It
// works line by line, so that a cut text is no problem.
func (m *markup) json(s string, folds bool) {
	lines := strings.Split(s, "\n")
	ends := map[int]int{}
	if folds {
		ends = blocksOf(lines)
	}
	closeAfter := map[int]int{} // line → how many folds end after it
	depth := 0
	for i, line := range lines {
		end, begins := ends[i]
		begins = begins && i > 0 && depth < deepest && end-i >= foldFrom
		switch {
		case begins && end-i < closedFrom:
			m.raw(`<details open><summary>`)
		case begins:
			m.raw(`<details><summary>`)
		}
		m.jsonLine(line)
		if begins {
			m.open("span", "more-lines")
			m.text(" … " + count(end-i-1) + " lines")
			m.close("span")
			m.raw("</summary>")
			closeAfter[end]++
			depth++
			continue
		}
		n := closeAfter[i]
		for range n {
			m.close("details")
		}
		depth -= n
		if n == 0 && i+1 < len(lines) && !startsFold(ends, i+1, depth) {
			m.raw("\n")
		}
	}
	for ; depth > 0; depth-- {
		m.close("details")
	}
}

// startsFold reports whether a fold begins with that line. Its element needs no
// line break before it.
func startsFold(ends map[int]int, i, depth int) bool {
	end, ok := ends[i]
	return ok && depth < deepest && end-i >= foldFrom
}

// blocksOf finds, for each line that opens a block, the line that closes it.
func blocksOf(lines []string) map[int]int {
	ends := map[int]int{}
	var open []int
	for i, line := range lines {
		t := strings.TrimSpace(line)
		if t == "" {
			continue
		}
		if t[0] == '}' || t[0] == ']' {
			if n := len(open); n > 0 {
				ends[open[n-1]] = i
				open = open[:n-1]
			}
			continue
		}
		if last := t[len(t)-1]; last == '{' || last == '[' {
			open = append(open, i)
		}
	}
	return ends
}

func (m *markup) jsonLine(line string) {
	rest := strings.TrimLeft(line, " ")
	m.text(line[:len(line)-len(rest)])
	if text := stringAt(rest); text != "" && strings.HasPrefix(rest[len(text):], ": ") {
		m.span("jk", text)
		m.text(": ")
		rest = rest[len(text)+2:]
	}
	m.jsonValue(rest)
}

func (m *markup) jsonValue(s string) {
	if s == "" {
		return
	}
	if text := stringAt(s); text != "" {
		m.jsonString(text)
		m.text(s[len(text):])
		return
	}
	value := strings.TrimRight(s, ",")
	switch {
	case value == "true" || value == "false" || value == "null":
		m.span("jl", value)
	case value != "" && (value[0] == '-' || value[0] >= '0' && value[0] <= '9'):
		m.span("jn", value)
	default:
		m.text(s)
		return
	}
	m.text(s[len(value):])
}

// jsonString shows a string as written. One of several lines keeps its line breaks.
func (m *markup) jsonString(text string) {
	var s string
	if strings.Count(text, `\n`) < 2 || json.Unmarshal([]byte(text), &s) != nil {
		m.span("js", text)
		return
	}
	m.open("span", "js lines")
	m.text(`"` + s + `"`)
	m.close("span")
}

// stringAt returns the JSON string at the start of s, "" if there is no complete
// one.
func stringAt(s string) string {
	if s == "" || s[0] != '"' {
		return ""
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return s[:i+1]
		}
	}
	return ""
}
