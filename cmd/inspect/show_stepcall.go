package main

import (
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// oneLineFrom is the minimum width of a terminal for a call and its result on one
// line.
const oneLineFrom = 110

// call prints a call with its result.
func (s *stepPrinter) call(e *view.Entry) {
	bar := s.bar(e)
	name := fmt.Sprintf("%-*s", s.names, cut(word(e.Item.Name), s.names))
	args := e.Item.ArgumentsRaw
	if args == "" {
		args = "{}"
	}
	mark, style, facts, text := s.verdict(e)
	id := shortID(e.Item.CallID)
	switch {
	case s.full:
		s.row(bar, join([]string{s.style(name, cyan), s.style(word(e.Item.CallID), dim)}))
		s.block(bar, args)
		s.row(bar, s.style(mark, style)+" "+s.style(facts, dim))
		s.block(bar, text)
	case s.columns >= oneLineFrom:
		room := s.room(gutterWidth + s.names + 14 + 8 + 9 + 5*2)
		left := room * 45 / 100
		behind := s.style(pad(mark, 9), style) + "  " + cut(word(transcript.Head(text, 400)), room-left-max(0, displaywidth.String(mark)-9))
		s.row(bar, strings.Join([]string{s.style(name, cyan), s.style(pad(id, 14), dim), pad(cut(word(transcript.Head(args, 400)), left), left),
			s.style(padLeft(duration(latencyOf(e)), 8), dim), behind}, "  "))
	default:
		s.row(bar, fmt.Sprintf("%s  %s  %s", s.style(name, cyan), s.style(id, dim), cut(word(transcript.Head(args, 400)), s.room(gutterWidth+s.names+4+displaywidth.String(id)))))
		line := "  " + join([]string{mark, duration(latencyOf(e))})
		s.row(bar, s.style(line, style)+"  "+cut(word(transcript.Head(text, 400)), s.room(gutterWidth+displaywidth.String(line)+2)))
	}
	s.beside(e, bar)
}

func latencyOf(e *view.Entry) *float64 {
	if e.Pair == nil {
		return nil
	}
	return e.Pair.LatencyMS
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-displaywidth.String(s)))
}

func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-displaywidth.String(s))) + s
}

// shortID keeps the beginning and the end of a call id, because the ends differ.
func shortID(id string) string {
	id = word(id)
	if r := []rune(id); len(r) > 14 {
		return string(r[:9]) + "…" + string(r[len(r)-4:])
	}
	return id
}

// block prints a complete text.
func (s *stepPrinter) block(bar, text string) {
	for _, line := range split(text) {
		s.row(bar, "  "+line)
	}
}

// verdict describes the result of a call: a mark, facts and the text.
func (s *stepPrinter) verdict(e *view.Entry) (mark, style, facts, text string) {
	pair := e.Pair
	switch {
	case pair == nil && e.Item.ServerSide:
		return "provider", dim, "run by the provider", ""
	case pair == nil || pair.State == transcript.Unanswered:
		return "! unanswered", red, "", s.unanswered(e)
	}
	if e.Result != nil {
		text = resultText(e.Result)
		mark = size(len(e.Result.Text))
	}
	facts = join([]string{mark, duration(pair.LatencyMS), "in " + e.ResultSource})
	if pair.IsError {
		return "✗ error", red, facts, text
	}
	return "✓ " + mark, green, facts, text
}

func (s *stepPrinter) unanswered(e *view.Entry) string {
	step := s.told.Step
	switch {
	case !step.Complete:
		return "the answer was cut off"
	case s.run.Status == view.Running:
		return "no later request has brought a result yet"
	}
	return "no request ever brought a result"
}

func (s *stepPrinter) bar(e *view.Entry) string {
	if e.Pair != nil && (e.Pair.State != transcript.Paired || e.Pair.IsError) {
		return s.style("▌", red)
	}
	return s.style("▌", cyan)
}

// beside prints the sub-agents and notes of a call.
func (s *stepPrinter) beside(e *view.Entry, bar string) {
	if e.Example {
		s.row(bar, s.style("  an example", dim))
	}
	if e.Pair != nil && e.Pair.By != "" && e.Pair.By != "id" {
		s.row(bar, s.style("  joined by "+e.Pair.By, dim))
	}
	if len(e.AlsoIn) > 0 {
		s.row(bar, s.style("  another result in "+strings.Join(e.AlsoIn, ", "), dim))
	}
	for _, a := range s.run.Under(e.Place) {
		s.row(bar, s.style(cut(fmt.Sprintf("  ⤷ sub-agent %s%s, %s, %s", a.Ref, named(a), counted(len(a.Steps), "step"), word(a.FoundBy())), s.room(gutterWidth)), cyan))
	}
}

// result prints a result apart from its call.
func (s *stepPrinter) result(e *view.Entry) {
	why, style, bar := "! result without a call", red, s.style("▌", red)
	if e.Pair != nil {
		switch e.Pair.State {
		case transcript.Duplicate:
			why = "! a second result for a call that has one"
		case transcript.Paired:
			why, style, bar = "result of a call of another line: "+word(e.Pair.Name), dim, s.style("▌", cyan)
		}
	}
	s.row(bar, fmt.Sprintf("%s  %s", s.style(shortID(e.Item.CallID), dim), s.style(why, style)))
	if s.full {
		s.block(bar, resultText(&e.Item))
		return
	}
	s.row(bar, "  "+cut(word(transcript.Head(resultText(&e.Item), 400)), s.room(gutterWidth+2)))
}
