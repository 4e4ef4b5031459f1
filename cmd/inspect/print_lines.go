package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// line writes one line.
func (p *printer) line(format string, args ...any) { p.print(fmt.Sprintf(format, args...)) }

// print writes a formatted line.
func (p *printer) print(line string) {
	_, err := io.WriteString(p.output(), strings.TrimRight(line, " ")+"\n")
	if p.failed == nil {
		p.failed = err
	}
}

// rule writes a horizontal line with a word in it.
func (p *printer) rule(word string) {
	p.line("")
	p.line("%s", p.style("── "+word+" "+strings.Repeat("─", max(0, min(p.columns, 100)-len(word)-4)), dim))
}

// facts writes facts after an indent. On a terminal no fact is split between lines.
func (p *printer) facts(indent int, facts []string) {
	margin := strings.Repeat(" ", indent)
	line := ""
	for _, f := range facts {
		longer := join([]string{line, f})
		if line != "" && p.terminal() && displaywidth.String(longer) > p.room(indent) {
			p.line("%s%s", margin, p.style(line, dim))
			longer = f
		}
		line = longer
	}
	p.line("%s%s", margin, p.style(line, dim))
}

// dimly writes a wrapped sentence in a dim style.
func (p *printer) dimly(text string) {
	for _, line := range wrap(text, p.room(0)) {
		p.line("%s", p.style(line, dim))
	}
}

// room returns the columns left after an indent.
func (p *printer) room(indent int) int { return max(p.columns-indent, 20) }

// lines prepares data for printing after an indent: at most that many lines, each
// shortened to the width, and a note about what was left out. With --full nothing
// is left out.
func (p *printer) lines(text string, indent, most int) (lines []string, more string) {
	all := split(text)
	if p.full {
		return all, ""
	}
	shortened := false
	for _, line := range all[:min(most, len(all))] {
		short := cut(line, p.room(indent))
		shortened = shortened || short != line
		lines = append(lines, short)
	}
	switch left := len(all) - len(lines); {
	case left > 0:
		more = fmt.Sprintf("… %d more line%s, %s in all", left, plural(left), size(len(text)))
	case shortened && len(text) > 4*p.columns:
		more = fmt.Sprintf("… %s in all", size(len(text)))
	}
	return lines, more
}

// prose is lines for natural language: long lines are wrapped at words.
func (p *printer) prose(text string, indent, most int) (lines []string, more string) {
	var all []string
	for _, line := range split(text) {
		all = append(all, wrap(line, p.room(indent))...)
	}
	if left := len(all) - most; left > 0 && !p.full {
		return all[:most], fmt.Sprintf("… %d more line%s, %s in all", left, plural(left), size(len(text)))
	}
	return all, ""
}

// wrap breaks a text into lines of that many columns, at spaces if there are any.
func wrap(text string, columns int) []string {
	var lines []string
	start, end, used := 0, 0, 0 // of the current line
	for w := range strings.SplitAfterSeq(text, " ") {
		for w != "" {
			part, width := fitting(w, columns)
			if used > 0 && !fits(strings.TrimRight(w, " "), columns-used) {
				lines, start, used = append(lines, text[start:end]), end, 0
			}
			end, used, w = end+len(part), used+width, w[len(part):]
		}
	}
	if end > start || len(lines) == 0 {
		lines = append(lines, text[start:end])
	}
	return lines
}

// fitting returns the part of a word that fits into a line, at least one character,
// and its width. It reads no further, so that a word of a megabyte costs its length
// and not the square of it.
func fitting(w string, columns int) (part string, width int) {
	end := 0
	for g := displaywidth.StringGraphemes(w); g.Next(); end += len(g.Value()) {
		if end > 0 && width+g.Width() > columns {
			break
		}
		width += g.Width()
	}
	return w[:end], width
}

// fits reports whether a text is at most that many columns wide.
func fits(text string, columns int) bool {
	part, width := fitting(text, columns)
	return len(part) == len(text) && width <= columns
}

// split returns the lines of a recorded text, with control characters made visible.
func split(text string) []string {
	return strings.Split(strings.ReplaceAll(visible(strings.TrimRight(text, "\n")), "\t", "    "), "\n")
}

// rawShown bounds how much of an undecoded body is shown.
const rawShown = 2000

// raw shows the bodies of an exchange that no dialect reads.
func (p *printer) raw(ctx context.Context, r transcript.Reader, e *transcript.Exchange) error {
	b, err := history.Read(ctx, r, e)
	if err != nil {
		return err
	}
	p.body("request", b.Request, e.Request.Bytes, e.N)
	p.body("response", b.Response, e.Response.Bytes, e.N)
	return nil
}

func (p *printer) body(side string, body []byte, bytes, n int64) {
	p.rule(fmt.Sprintf("%s body, %s", side, size(int(bytes))))
	if !utf8.Valid(body) {
		p.line("  not text; inspect export x%d --format raw-%s writes its bytes", n, side)
		return
	}
	text := string(body)
	if !p.full && len(text) > rawShown {
		text = strings.ToValidUTF8(text[:rawShown], "")
	}
	p.line("%s", strings.TrimRight(visible(text), "\n"))
	if !p.full && len(body) > rawShown {
		p.line("%s", p.style("… --full shows all", dim))
	}
}
