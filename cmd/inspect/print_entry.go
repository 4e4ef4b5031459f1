package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// labelWidth is the width of the column of speakers.
const labelWidth = 12

func (p *printer) entry(e *view.Entry) {
	it := &e.Item
	switch it.Kind {
	case transcript.ToolCall:
		p.call(e)
	case transcript.ToolResult:
		p.loneResult(e)
	default:
		label, style, most := speaker(e)
		p.labelled(p.lead, label, style, itemText(it), most)
	}
}

// speaker returns the speaker in the provider's own term, its style, and the limit
// of lines.
func speaker(e *view.Entry) (label, style string, most int) {
	it := &e.Item
	label, style, most = it.Role, dim, linesQuiet
	switch {
	case it.Kind == transcript.Reasoning:
		label = "reasoning"
	case it.Kind == transcript.MessageItem && it.Role == "assistant":
		style, most = green, linesSaid
	case it.Kind == transcript.MessageItem:
		style, most = bold, linesSaid
	case it.Kind != transcript.System:
		label, style = string(it.Kind), yellow
	}
	if label == "" {
		label = string(it.Kind)
	}
	if it.Choice > 0 {
		label = fmt.Sprintf("%s #%d", label, it.Choice)
	}
	if e.Example {
		label, style = "example "+label, dim
	}
	return label, style, most
}

// padLabel pads a label to the width of its column. A longer one is followed by a
// space.
func padLabel(label string) string {
	if len(label) >= labelWidth {
		return label + " "
	}
	return label + strings.Repeat(" ", labelWidth-utf8.RuneCountInString(label))
}

// itemText returns the readable text of an item.
func itemText(it *transcript.Item) string {
	text := it.Text
	if n := len(it.Parts); n > 0 {
		text += fmt.Sprintf(" [+ %d part%s that %s not text]", n, plural(n), isAre(n))
	}
	switch {
	case text != "":
		return text
	case it.Kind == transcript.Reasoning:
		return "not shown by the provider, " + size(len(it.Raw))
	case it.Kind == transcript.Compaction:
		return "a summary that only the provider can read, " + size(len(it.Raw))
	}
	return oneLine(string(it.Raw))
}

// fromFirstWord removes empty lines at the beginning, after which the label would
// be alone on its line.
func fromFirstWord(text string) string {
	for {
		line, rest, more := strings.Cut(text, "\n")
		if !more || strings.TrimSpace(line) != "" {
			return text
		}
		text = rest
	}
}

// labelled prints a text after its label, in at most that many lines.
func (p *printer) labelled(margin, label, style, text string, most int) {
	layout := p.prose
	if most == linesQuiet {
		layout = p.lines
	}
	lines, more := layout(fromFirstWord(text), len(margin)+labelWidth, most)
	for i, line := range lines {
		who := ""
		if i == 0 {
			who = word(label)
		} else {
			margin = strings.Repeat(" ", len(margin))
		}
		p.line("%s%s%s", margin, p.style(padLabel(who), style), line)
	}
	if more != "" {
		p.line("%*s%s", len(margin)+labelWidth, "", p.style(more, dim))
	}
}

func (p *printer) call(e *view.Entry) {
	it := &e.Item
	tool := word(it.Name)
	if it.ServerSide {
		tool += " (run by the provider)"
	}
	args := it.ArgumentsRaw
	if args == "" {
		args = "{}"
	}
	head := fmt.Sprintf("%s  %s", p.style(tool, cyan), p.style(word(it.CallID), dim))
	if e.Batch > 1 {
		head += p.style(fmt.Sprintf("  one of %d at once", e.Batch), dim)
	}
	p.line("%s%s %s", p.lead, p.bar(e), head)
	lines, more := p.lines(args, 6, linesResult)
	for _, line := range lines {
		p.line("  %s   %s", p.bar(e), line)
	}
	if more != "" {
		p.line("  %s   %s", p.bar(e), p.style(more, dim))
	}
	p.result(e)
}

func (p *printer) bar(e *view.Entry) string {
	if e.Pair != nil && (e.Pair.State != transcript.Paired || e.Pair.IsError) && !e.Item.ServerSide {
		return p.style("▌", red)
	}
	return p.style("▌", cyan)
}

func (p *printer) result(e *view.Entry) {
	pair := e.Pair
	if pair == nil {
		return
	}
	if pair.State == transcript.Unanswered {
		why := "no later request has brought a result yet"
		switch {
		case e.Output && p.cutOff:
			why = "the answer was cut off"
		case !e.Output:
			why = "the history goes on without its result; providers refuse such a request"
		}
		p.line("  %s %s", p.bar(e), p.style("! unanswered: "+why, red))
		return
	}
	mark, style := "✓", green
	if pair.IsError {
		mark, style = "✗ error", red
	}
	facts := []string{duration(pair.LatencyMS)}
	if e.Result != nil {
		facts = append(facts, size(len(e.Result.Text)))
	}
	if e.ResultSource != p.shown {
		facts = append(facts, "in "+e.ResultSource)
	}
	if pair.By != "id" {
		facts = append(facts, "joined by "+pair.By)
	}
	if len(e.AlsoIn) > 0 {
		facts = append(facts, "another result in "+strings.Join(e.AlsoIn, ", "))
	}
	if e.From != "" {
		facts = append(facts, string(e.From))
	}
	p.line("  %s %s %s", p.bar(e), p.style(mark, style), p.style(join(facts), dim))
	if e.Result == nil {
		return
	}
	if e.Edit != nil {
		was, _ := p.lines(e.Edit.Was, 10, 1)
		p.line("  %s   %s", p.bar(e), p.style("was: "+was[0], dim))
	}
	lines, more := p.lines(resultText(e.Result), 6, linesResult)
	for _, line := range lines {
		p.line("  %s   %s", p.bar(e), line)
	}
	if more != "" {
		p.line("  %s   %s", p.bar(e), p.style(more, dim))
	}
}

func resultText(it *transcript.Item) string {
	text := it.Text
	if n := len(it.Parts); n > 0 {
		text += fmt.Sprintf("\n[+ %d part%s that %s not text]", n, plural(n), isAre(n))
	}
	return text
}

// loneResult prints a result without a call.
func (p *printer) loneResult(e *view.Entry) {
	why := "! result without a call"
	if e.Pair != nil && e.Pair.State == transcript.Duplicate {
		why = "! a second result for a call that has one"
	}
	p.line("%s%s %s  %s", p.lead, p.style("▌", red), p.style(word(e.Item.CallID), dim), p.style(why, red))
	lines, more := p.lines(resultText(&e.Item), 6, linesResult)
	for _, line := range lines {
		p.line("  %s   %s", p.style("▌", red), line)
	}
	if more != "" {
		p.line("  %s   %s", p.style("▌", red), p.style(more, dim))
	}
}
