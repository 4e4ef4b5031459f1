package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// stepPrinter prints one step of a run. Its lines have a gutter with the number of
// the step, then the speaker, then the text.
type stepPrinter struct {
	*runPrinter
	told     *view.StepView
	numbered bool // the number of the step is printed
	names    int  // width of the names of tools
}

const gutterWidth = 6

func (p *runPrinter) stepPrinter(t *view.StepView) *stepPrinter {
	return &stepPrinter{runPrinter: p, told: t, names: max(widest(t.Entries), labelWidth-2)}
}

// row prints a line after the gutter, with a bar for parts of a call.
func (s *stepPrinter) row(bar, text string) {
	n := ""
	if !s.numbered {
		n, s.numbered = strconv.Itoa(s.told.Step.N), true
	}
	s.put(s.style(padLeft(n, 3), bold) + " " + bar + " " + text)
}

const noBar = " "

func (s *stepPrinter) note(text, style string) {
	for i, line := range wrap(text, s.room(gutterWidth)) {
		if i > 0 {
			line = "  " + line
		}
		s.row(noBar, s.style(line, style))
	}
}

// context prints the evidence for the step's position, if that is not obvious, and
// what changed in the history before.
func (s *stepPrinter) context() {
	step, c := s.told.Step, &s.told.Context
	if len(step.Attempts) > 1 {
		s.attempts()
	}
	if s.told.Missing {
		s.note("! the history before this request was not recorded", red)
	}
	if s.told.Lost != "" {
		s.note("! what this step builds on, or a part of it, "+lostWord(s.told.Lost), red)
	}
	if by := step.Link.By; by != "" && by != transcript.ByHistory && by != transcript.ByAttempt && (step.N > 1 || by != transcript.ByPrompt && by != transcript.BySession && by != transcript.ByLabel) {
		s.note(join([]string{"by " + strings.ReplaceAll(by, "_", " "), word(step.Link.Evidence)}), dim)
	}
	for _, turn := range step.Link.Turns() {
		s.note("! "+word(turn), yellow)
	}
	if len(c.Tools) > 0 {
		s.row(noBar, s.style(cut("tools "+word(strings.Join(c.Tools, ", ")), s.room(gutterWidth)), dim))
	}
	if c.System {
		s.note("! the system prompt is another one than in the step before", yellow)
	}
	if len(c.ToolsAdded)+len(c.ToolsRemoved) > 0 {
		s.note("! tools "+word(changes(c.ToolsAdded, c.ToolsRemoved)), yellow)
	}
	if c.Rewritten+c.Dropped > 0 {
		s.history()
	}
}

func lostWord(why string) string {
	if why == view.Damaged {
		return "is damaged in the database"
	}
	return "was pruned"
}

func changes(added, removed []string) string {
	var parts []string
	for _, name := range added {
		parts = append(parts, "+"+name)
	}
	for _, name := range removed {
		parts = append(parts, "−"+name)
	}
	return strings.Join(parts, " ")
}

// attempts prints the attempts at a step before the last one.
func (s *stepPrinter) attempts() {
	all := s.told.Step.Attempts
	var failed []string
	for _, a := range all[:len(all)-1] {
		why := string(a.Outcome)
		if a.Status >= 400 {
			why = fmt.Sprint(a.Status)
		}
		failed = append(failed, fmt.Sprintf("x%d %s", a.ExchangeN, why))
	}
	s.note(fmt.Sprintf("%d attempts; before this one failed %s", len(all), strings.Join(failed, ", ")), yellow)
}

// changesShown bounds the changes of the history that are shown without --full.
const changesShown = 4

// history prints what was rewritten and dropped.
func (s *stepPrinter) history() {
	c := &s.told.Context
	s.note(fmt.Sprintf("! history edited: %d kept, %d new, %d rewritten, %d dropped", c.Kept, c.New, c.Rewritten, c.Dropped), yellow)
	shown := c.Changes
	if !s.full && len(shown) > changesShown {
		shown = shown[:changesShown]
	}
	for i := range shown {
		was := &shown[i].Was
		line := fmt.Sprintf("  %-9s %s %s", shown[i].Origin, kindOf(was), gist(was))
		if now := shown[i].Now; now != nil {
			line = fmt.Sprintf("  %-9s %s %s  →  %s", shown[i].Origin, kindOf(was), cut(gist(was), s.room(gutterWidth)/2-16), gist(now))
		}
		s.row(noBar, s.style(cut(line, s.room(gutterWidth)), dim))
	}
	if more := len(c.Changes) - len(shown); more > 0 {
		s.row(noBar, s.style(fmt.Sprintf("  … %d more", more), dim))
	}
}

func kindOf(it *transcript.Item) string {
	if it.Kind == transcript.MessageItem {
		return word(it.Role)
	}
	return strings.ReplaceAll(string(it.Kind), "_", " ")
}

// gist describes an item in one line.
func gist(it *transcript.Item) string {
	if it.Kind == transcript.ToolCall {
		return word(it.Name + " " + it.ArgumentsRaw)
	}
	return word(transcript.Head(it.Text, 400))
}

func (s *stepPrinter) entry(e *view.Entry) {
	it := &e.Item
	if s.only.raw {
		s.raw(e)
		return
	}
	switch it.Kind {
	case transcript.ToolCall:
		s.call(e)
	case transcript.ToolResult:
		s.result(e)
	default:
		s.said(e)
	}
}

// raw prints the exact JSON of an item and of its result.
func (s *stepPrinter) raw(e *view.Entry) {
	for _, it := range []*transcript.Item{&e.Item, e.Result} {
		if it != nil {
			s.row(noBar, s.style(kindOf(it), dim))
			s.block(noBar, string(it.Raw))
		}
	}
}

// said prints a text after its speaker. What a client added to a user's message is
// shortened.
func (s *stepPrinter) said(e *view.Entry) {
	it := &e.Item
	label, style, most := speaker(e)
	text, added := itemText(it), 0
	if it.Role == "user" && it.Kind == transcript.MessageItem && !s.full {
		if said := transcript.Said(it.Text); said != "" && len(it.Parts) == 0 {
			text, added = said, len(it.Text)-len(said)
		} else if said == "" && it.Text != "" {
			most, style = linesQuiet, dim
		}
	}
	if most == linesQuiet && !s.full {
		s.quiet(label, it, text, style)
		return
	}
	lines, more := s.prose(fromFirstWord(text), gutterWidth+labelWidth, most)
	for i, line := range lines {
		who := ""
		if i == 0 {
			who = word(label)
		}
		s.row(noBar, s.style(padLabel(who), style)+line)
	}
	if added > shortAddition && more == "" {
		more = "+ " + size(added) + " that the client added"
	}
	if more != "" {
		s.row(noBar, strings.Repeat(" ", labelWidth)+s.style(more, dim))
	}
}

// shortAddition is how much a client may add without a note: tags, white space.
const shortAddition = 40

// quiet prints a text on one line, with its size if it is cut.
func (s *stepPrinter) quiet(label string, it *transcript.Item, text, style string) {
	room := s.room(gutterWidth + labelWidth)
	line := word(transcript.Head(text, 4*room))
	if len(text) > len(line) || displaywidth.String(line) > room {
		end := "  " + size(len(text))
		line = cut(line, room-len(end)) + end
	}
	s.row(noBar, s.style(padLabel(word(label)), style)+s.style(line, dim))
}

// ending prints the step's cost and how it ended.
func (s *stepPrinter) ending() {
	step := s.told.Step
	facts := []string{fmt.Sprintf("x%d", step.ExchangeN), stepTime(step)}
	facts = append(facts, tokenFacts(step.Usage)...)
	if asked, answered := step.Models(); len(s.run.Models) > 1 {
		facts = append(facts, word(asked))
		if answered != asked && answered != "" {
			facts = append(facts, "answered by "+word(answered))
		}
	}
	if step.FinishReason != nil {
		facts = append(facts, word(*step.FinishReason))
	}
	if step.Failed() {
		last := step.Attempts[len(step.Attempts)-1]
		s.note("✗ "+failure(&last), red)
	} else if !step.Complete {
		s.note("! the answer is not complete", red)
	}
	for _, w := range s.told.Warnings {
		s.note("note: "+word(w), yellow)
	}
	s.row(noBar, s.style(cut(join(facts), s.room(gutterWidth)), dim))
}

// stepTime formats how long a step's exchange took and, if there were more
// attempts, their total time.
func stepTime(s *view.Step) string {
	if s.WholeMS == nil {
		return duration(s.DurationMS)
	}
	return fmt.Sprintf("%s (%s with all attempts)", duration(s.DurationMS), duration(s.WholeMS))
}

func failure(a *view.Attempt) string {
	what := string(a.Outcome)
	if a.Status >= 400 {
		what += fmt.Sprintf(" %d", a.Status)
	}
	if a.Error != nil {
		what += ": " + word(join([]string{a.Error.Type, a.Error.Code, a.Error.Message}))
	}
	return what
}
