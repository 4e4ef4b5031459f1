package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// replayed is the output of replay --json.
type replayed struct {
	*replay.Take
	OldText    string `json:"old_text"`    // the last text recorded from there on
	Divergence *int   `json:"diverged_at"` // the first step whose answer differs from the recorded one; null: there is none
}

// finished reports whether a take ended as planned.
func finished(stop transcript.StopReason) bool {
	return stop == transcript.StopAnswered || stop == transcript.StopOnce
}

// printTake prints the result of a take, compared with the recording.
func (x *replaying) printTake(ctx context.Context, r transcript.Reader, take *replay.Take) error {
	old := recordedLine{ctx: ctx, reader: r, line: x.ready.Line()}
	if x.f.once {
		old.line = old.line[:1]
	}
	if x.ready.Resumed != nil { // the continued take is compared with the beginning of the recording
		steps, err := x.stepsBefore(ctx, r)
		if err != nil {
			return err
		}
		old.skip = steps
	}
	diverged, err := old.diverges(take)
	if err != nil {
		return err
	}
	before, err := old.last()
	if err != nil {
		return err
	}
	if x.json {
		err = x.printJSON(replayed{take, before.Text, diverged})
	} else {
		p := x.printer(false)
		name, err := takeName(ctx, r, take)
		if err != nil {
			return err
		}
		p.take(take, name, &old, before, diverged)
		if err = p.failed; err == nil {
			p.howToGoOn(take, view.Ref(old.line[len(old.line)-1].N))
		}
	}
	if err == nil && (take.Outcome != transcript.OK || !finished(take.StopReason)) {
		return errFindings
	}
	return err
}

// stepsBefore counts the steps of the takes that a resumed one continues.
func (x *replaying) stepsBefore(ctx context.Context, r transcript.Reader) (int, error) {
	e, err := r.Exchange(ctx, x.ready.Resumed.Take.Last())
	if err != nil {
		return 0, err
	}
	return e.Link.Step - x.ready.Request.Origin.Link.Step + 1, nil
}

// recordedLine is the recording from a step on.
type recordedLine struct {
	ctx    context.Context
	reader transcript.Reader
	line   []*transcript.Exchange
	skip   int // steps at its beginning that a take does not repeat
}

// at returns the answer of its nth step, from 0; nil if there is none.
func (l *recordedLine) at(n int) (*transcript.Turn, error) {
	if n += l.skip; n >= len(l.line) {
		return nil, nil
	}
	return history.Decode(l.ctx, l.reader, l.line[n])
}

// last returns its last answer.
func (l *recordedLine) last() (*transcript.Turn, error) {
	return history.Decode(l.ctx, l.reader, l.line[len(l.line)-1])
}

// diverges finds the first step, from 1, at which the answer of a take differs.
func (l *recordedLine) diverges(take *replay.Take) (*int, error) {
	for i, t := range take.Turns {
		old, err := l.at(i)
		if err != nil {
			return nil, err
		}
		if old == nil || !replay.SameAnswer(old, t) {
			n := i + 1
			return &n, nil
		}
	}
	return nil, nil
}

// takeName formats the references of a take and its last exchange.
func takeName(ctx context.Context, r transcript.Reader, take *replay.Take) (string, error) {
	if len(take.Steps) == 0 {
		return take.Ref, nil
	}
	e, err := r.Exchange(ctx, take.Steps[len(take.Steps)-1])
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s (take %s)", view.Ref(e.N), take.Ref), nil
}

func (p *printer) take(take *replay.Take, name string, old *recordedLine, before *transcript.Turn, diverged *int) {
	after := &transcript.Turn{}
	if n := len(take.Turns); n > 0 {
		after = take.Turns[n-1]
	}
	last, _ := old.at(len(take.Turns) - 1)
	ref := view.Ref(old.line[len(old.line)-1].N)
	if len(old.line) > 1 && diverged != nil && *diverged < len(take.Turns) && last != nil { // they diverge before the end
		p.parting(take, old, *diverged)
	}
	p.answer("before, "+ref, before)
	sent := ""
	if n := len(take.Steps); n > 1 {
		sent = fmt.Sprintf(" after %d steps", n)
	}
	p.answer("after, "+name+sent, after)
	p.line("")
	p.line("  %s", join(append(append([]string{p.style(verdict(take, diverged, before, after), bold)}, tokenFacts(take.Usage)...), takeCost(take))))
	if from := countSources(take); from != "" {
		p.line("  %s", p.style("results: "+from, dim))
	}
	if take.Error != nil && take.Outcome != transcript.HTTPError {
		p.line("  %s", p.style("✗ "+visible(oneLine(take.Error.Message)), red))
	}
}

// parting prints where two lines with different ends diverge.
func (p *printer) parting(take *replay.Take, old *recordedLine, step int) {
	was, err := old.at(step - 1)
	if err != nil || was == nil {
		return
	}
	p.answer(fmt.Sprintf("step %d, before", step), was)
	p.answer(fmt.Sprintf("step %d, after", step), take.Turns[step-1])
}

// verdict describes how a take compares with the recording.
func verdict(take *replay.Take, diverged *int, before, after *transcript.Turn) string {
	switch {
	case take.Outcome != transcript.OK:
		return "the replay failed: " + strings.ReplaceAll(string(take.Outcome), "_", " ")
	case !finished(take.StopReason):
		return "the take stopped: " + stopWord(take.StopReason)
	case diverged == nil && take.Mode == transcript.Once, diverged == nil && replay.SameAnswer(before, after):
		return "the answer is the same"
	case diverged == nil:
		return "the answers are the same as far as the take went"
	case len(take.Turns) == 1:
		return "the answer changed"
	}
	return fmt.Sprintf("the answers part at step %d", *diverged)
}

// stopWord describes why a take stopped.
func stopWord(stop transcript.StopReason) string {
	switch stop {
	case transcript.StopAnswered:
		return "the model came to its end"
	case transcript.StopOnce:
		return "one step"
	case transcript.StopOpenCalls:
		return "no source has a result for a call"
	case transcript.StopOpenAsk:
		return "the model asks for an approval"
	case transcript.StopIncomplete:
		return "the answer was cut short"
	case transcript.StopFailed:
		return "a request failed"
	case transcript.StopSource:
		return "a source of results broke down"
	case transcript.StopSteps:
		return "its limit of steps (--max-steps)"
	case transcript.StopTokens:
		return "its limit of tokens (--max-tokens)"
	case transcript.StopCost:
		return "its limit of cost (--max-cost)"
	case transcript.StopTimeout:
		return "its limit of time (--timeout)"
	case transcript.StopInterrupt:
		return "you stopped it"
	}
	return "it is still running, or was killed"
}

func takeCost(take *replay.Take) string {
	if take.CostUSD == nil {
		return ""
	}
	about := ""
	if take.LowerBound {
		about = "at least "
	}
	return about + "$" + roundedDollars(*take.CostUSD)
}

// countSources formats the number of results per source.
func countSources(take *replay.Take) string {
	counts := map[transcript.Source]int{}
	var order []transcript.Source
	for _, r := range take.Results {
		if counts[r.Source]++; counts[r.Source] == 1 {
			order = append(order, r.Source)
		}
	}
	var parts []string
	for _, s := range order {
		parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
	}
	return strings.Join(parts, ", ")
}

// howToGoOn prints the commands for the next steps.
func (p *printer) howToGoOn(take *replay.Take, original string) {
	for _, c := range take.OpenCalls {
		if take.StopReason == transcript.StopOnce {
			break
		}
		p.line("  %s %s  %s  %s", p.style("▌", red), p.style(word(c.Name), cyan), p.style(word(c.CallID), dim), cut(oneLine(visible(c.Arguments)), p.room(40)))
	}
	if len(take.OpenCalls) > 0 && take.StopReason == transcript.StopOpenCalls {
		answer := ""
		for _, c := range take.OpenCalls {
			answer += fmt.Sprintf(" --set-result %s=…", shellWord(c.CallID))
		}
		p.line("  %s", "answer: inspect replay --resume "+take.Ref+answer)
		p.line("  %s", p.style("or name a source: --tool-exec, --tool-http, --tool-mcp, --ask, --simulate", dim))
	} else if !finished(take.StopReason) && take.StopReason != transcript.StopOpenAsk && len(take.Steps) > 0 {
		p.line("  %s", "continue: inspect replay --resume "+take.Ref)
	}
	p.line("  %s", p.style(fmt.Sprintf("inspect show %s · inspect diff %s %s · inspect tree %s", take.Ref, original, take.Ref, take.Ref), dim))
}

// shellWord quotes a recorded id for a shell.
func shellWord(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:") == "" && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(visible(s), "'", `'\''`) + "'"
}

// answer prints an answer of a model.
func (p *printer) answer(title string, t *transcript.Turn) {
	p.rule(title)
	if len(t.Output) == 0 && t.Error == nil {
		p.line("  %s", p.style("(no answer)", dim))
	}
	for i := range t.Output {
		it := &t.Output[i]
		if it.Kind == transcript.ToolCall {
			args := it.ArgumentsRaw
			p.line("  %s %s  %s", p.style("▌", cyan), p.style(word(it.Name), cyan), cut(oneLine(visible(args)), p.room(20)))
		} else {
			p.entry(&view.Entry{Item: *it, Output: true})
		}
	}
	if t.Error != nil {
		p.line("  %s", p.style("✗ "+visible(join([]string{t.Error.Type, oneLine(t.Error.Message)})), red))
	}
}
