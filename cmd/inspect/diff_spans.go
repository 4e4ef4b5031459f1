package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/retake-debugger/retake/analysis"
)

// spansShown bounds the lines of a text diff without --full.
const spansShown = 6

// spans prints a word diff. Unchanged text is shortened to what is next to a
// difference. Without colours the differences are in brackets.
func (p *diffPrinter) spans(margin, label string, spans []analysis.Span) {
	const beside = 32
	var plain []piece
	plain = append(plain, piece{label, dim})
	for i, s := range spans {
		text := word(s.Text)
		if s.Fate == analysis.Same {
			if !p.full {
				text = shortened(text, beside, i > 0, i < len(spans)-1)
			}
			plain = append(plain, piece{spaced(s.Text, text), dim})
			continue
		}
		text = spaced(s.Text, text)
		if !p.full {
			text = shortened(text, 5*beside, true, true)
		}
		if !p.colours {
			text = map[analysis.Fate]string{analysis.Removed: "[−", analysis.Added: "{+"}[s.Fate] + text + map[analysis.Fate]string{analysis.Removed: "−]", analysis.Added: "+}"}[s.Fate]
		}
		plain = append(plain, piece{text, fateStyle(s.Fate)})
	}
	lines := wrapPieces(plain, p.room(len(margin)))
	for i, line := range lines {
		if i == spansShown && !p.full {
			p.line("%s%s", margin, p.style(fmt.Sprintf("… %s more; --full shows all", counted(len(lines)-i, "line")), dim))
			return
		}
		out := ""
		for _, one := range line {
			out += p.style(one.text, one.style)
		}
		p.line("%s%s", margin, out)
	}
}

// spaced restores the space at the ends of a folded text.
func spaced(was, folded string) string {
	if folded == "" {
		if was != "" {
			return " "
		}
		return ""
	}
	if strings.TrimLeft(was, " \t\r\n") != was {
		folded = " " + folded
	}
	if strings.TrimRight(was, " \t\r\n") != was {
		folded += " "
	}
	return folded
}

// shortened keeps that many characters of a text at the ends that touch a
// difference.
func shortened(s string, most int, start, end bool) string {
	if utf8.RuneCountInString(s) <= 2*most {
		return s
	}
	r := []rune(s)
	before, after := "", ""
	if start {
		before = string(r[:most])
	}
	if end {
		after = string(r[len(r)-most:])
	}
	return before + " … " + after
}

type piece struct{ text, style string }

// wrapPieces breaks styled text into lines of that many columns, at spaces if there
// are any.
func wrapPieces(list []piece, columns int) [][]piece {
	var lines [][]piece
	var line []piece
	used := 0
	for _, p := range list {
		for _, w := range strings.SplitAfter(p.text, " ") {
			for w != "" {
				part, width := fitting(w, columns)
				if used > 0 && !fits(strings.TrimRight(w, " "), columns-used) {
					lines, line, used = append(lines, line), nil, 0
				}
				line, used, w = append(line, piece{part, p.style}), used+width, w[len(part):]
			}
		}
	}
	if len(line) > 0 {
		lines = append(lines, line)
	}
	return lines
}
