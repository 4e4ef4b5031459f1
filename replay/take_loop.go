package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// loop plays one take.
type loop struct {
	*Player
	o        *Options
	req      *Request // the next one
	model    string   // asked for
	tools    map[string]json.RawMessage
	take     *transcript.Take
	base     []transcript.TakeResult // results that the first request holds
	edited   int                     // how many of them an edit made
	examples map[string][]example    // of tools: their latest results in the first request
	steps    int
	turns    []*transcript.Turn
	last     *transcript.Turn // the last answer, of a side call too; nil if there was none
	outcome  transcript.Outcome
	failure  *transcript.Error
	spent    spent
	open     []*Call
	growing  *dialect.Growing        // the request, once it has grown
	brought  []transcript.TakeResult // by the next request; those that are kept already wait in the take
}

func (p *Player) newLoop(ctx context.Context, req *Request, o *Options) (*loop, error) {
	if o.Mode == "" {
		o.Mode = transcript.Continue
	}
	own := *req
	own.Header = req.Header.Clone()
	l := &loop{Player: p, o: o, req: &own, outcome: transcript.OK, examples: map[string][]example{}}
	if o.Mode == transcript.Continue {
		if err := own.StandAlone(ctx, p.Store); err != nil {
			return nil, err
		}
	}
	d, err := own.decoded()
	if err != nil { // it is sent as it is
		d = newDecoded(own.Speaks(), own.Method, own.URL, nil, nil)
	}
	turn := d.turn()
	l.model, l.tools = turn.Model, toolsOf(turn)
	l.readResults(turn)
	if err := l.resume(); err != nil {
		return nil, err
	}
	for _, source := range o.Sources {
		if s, ok := source.(*Simulated); ok {
			s.loop = l
		}
	}
	edits := append(slices.Clone(req.Edits), o.Edits...)
	l.take = &transcript.Take{Origin: req.Origin.ID, Mode: o.Mode, Reason: o.Reason, Group: o.Group, Arm: o.Arm, CreatedAt: p.Time()}
	if o.Resume != nil {
		l.take.Parent = o.Resume.Take.ID
	}
	if err := begin(ctx, p.Store, l.take, edits); err != nil {
		return nil, err
	}
	l.tell(Event{Kind: Began})
	return l, nil
}

// toolsOf returns the definitions of the tools that a request offers, by name.
func toolsOf(t *transcript.Turn) map[string]json.RawMessage {
	tools := map[string]json.RawMessage{}
	for i := range t.Input {
		if it := &t.Input[i]; it.Kind == transcript.ToolDefinition {
			tools[it.Name] = it.Raw
		}
	}
	return tools
}

// resume takes up the answer at which the take before stopped. ErrOpenCalls if a call
// of it has no result still: then nothing is kept, since nothing would be sent.
func (l *loop) resume() error {
	if l.o.Resume == nil || l.o.Resume.turn == nil {
		return nil
	}
	l.last, l.open = l.o.Resume.turn, l.o.Resume.Calls
	l.o.Sources = append([]Source{newWaitingSource(l.o.Resume, l.o.Edits)}, l.o.Sources...)
	for _, c := range l.open {
		if !chain(l.o.Sources).covers(c) {
			return fmt.Errorf("%w: %s %s", ErrOpenCalls, c.Name, c.CallID)
		}
	}
	return nil
}

// readResults says of each result that the request holds where it comes from: the
// recording, unless an edit made it or changed it.
func (l *loop) readResults(t *transcript.Turn) {
	recorded := l.recordedResults()
	for _, m := range transcript.PairItems(t.Input) {
		if m.Result < 0 || t.Input[m.Result].ServerSide {
			continue
		}
		it := &t.Input[m.Result]
		r := transcript.TakeResult{CallID: it.CallID, Name: it.Name, Source: transcript.FromRecording}
		if m.Call >= 0 {
			call := &t.Input[m.Call]
			r.Name = call.Name
			l.examples[r.Name] = append([]example{{call.ArgumentsRaw, it.Text}}, l.examples[r.Name]...)
		}
		key := transcript.KeyOf(it)
		if l.isEdited(it) || recorded != nil && recorded[key] == 0 {
			r.Source = transcript.FromEdit
			l.brought, l.edited = append(l.brought, r), l.edited+1
		} else if recorded != nil {
			recorded[key]--
		}
		l.base = append(l.base, r)
	}
	if l.o.Resume != nil {
		l.o.Resume.mark(l.base)
	}
}

// isEdited reports whether an edit names the result.
func (l *loop) isEdited(it *transcript.Item) bool {
	for i := range l.req.Edits {
		e := &l.req.Edits[i]
		if e.Op == transcript.SetResult && (e.CallID == it.CallID && e.CallID != "" && (e.At == it.At || l.req.converted != "") || e.CallID == "" && e.At == it.At) {
			return true
		}
	}
	return false
}

// recordedResults counts the results of the recorded request, nil if there are no
// edits or they cannot be compared with those of the request.
func (l *loop) recordedResults() map[transcript.Key]int {
	if len(l.req.Edits) == 0 || l.req.converted != "" {
		return nil
	}
	items := l.req.before().turn().Input
	counts := map[transcript.Key]int{}
	for i := range items {
		if items[i].Kind == transcript.ToolResult {
			counts[transcript.KeyOf(&items[i])]++
		}
	}
	return counts
}

func (l *loop) tell(e Event) {
	if l.o.Progress != nil {
		e.Take, e.Step = l.take.N, l.steps
		l.o.Progress(e)
	}
}

// run sends until something stops it. An error says that nothing can be kept.
func (l *loop) run(ctx context.Context) (transcript.StopReason, error) {
	for resumes := l.last != nil; ; resumes = false {
		if resumes {
			results, stop := l.answers(ctx)
			if stop == "" {
				stop = l.next(results)
			}
			if stop != "" {
				return stop, nil
			}
		}
		l.steps++
		resp, err := l.send(ctx)
		if err != nil {
			return "", err
		}
		if stop := l.afterAnswer(ctx, resp); stop != "" {
			return stop, nil
		}
		results, stop := l.answers(ctx)
		if stop != "" {
			return stop, nil
		}
		if stop := l.next(results); stop != "" {
			return stop, nil
		}
	}
}

// send sends the request of a step, again if it is refused for now. The answer is
// nil if there was none.
func (l *loop) send(ctx context.Context) (*Response, error) {
	for attempt := 1; ; attempt++ {
		resp, wait, err := l.attempt(ctx, attempt)
		if err != nil || wait < 0 || attempt > l.o.Retries {
			return resp, err
		}
		l.tell(Event{Kind: Waits, Attempt: attempt, Status: resp.Status, Wait: wait})
		if l.Sleep(ctx, wait) != nil {
			return resp, nil
		}
	}
}

// attempt sends the request once. wait is how long to wait before another attempt,
// less than 0 if there is no use in one.
func (l *loop) attempt(ctx context.Context, n int) (resp *Response, wait Pause, err error) {
	step := transcript.TakeStep{Step: l.steps, Attempt: n}
	if step.Exchange, err = newID(); err != nil {
		return nil, -1, err
	}
	l.take.Steps = append(l.take.Steps, step)
	l.take.Results = append(l.take.Results, l.brought...)
	l.brought = nil
	for i := range l.take.Results {
		if r := &l.take.Results[i]; r.Waits() {
			r.Exchange, r.Text, r.IsError = step.Exchange, "", false
		}
	}
	// What is about to be sent is kept although ctx may end now.
	if err := keep(context.WithoutCancel(ctx), l.Store, l.take); err != nil {
		return nil, -1, err
	}
	l.tell(Event{Kind: Sends, Attempt: n, Exchange: step.Exchange})
	began := l.Time()
	resp, sendErr := l.req.Send(l.WithID(ctx, step.Exchange), l.Transport)
	l.read(ctx, l.req, resp, sendErr)
	e := Event{Kind: Answered, Attempt: n, Exchange: step.Exchange, Turn: l.last, Took: l.Time().Sub(began), Err: sendErr}
	if resp != nil {
		e.Status = resp.Status
	}
	l.tell(e)
	if resp == nil || sendErr != nil {
		return resp, -1, nil
	}
	return resp, pauseOf(resp, n), nil
}

func newID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	return id.String(), nil
}

// read takes in what came back to a request.
func (l *loop) read(ctx context.Context, req *Request, resp *Response, err error) {
	l.last, l.failure = &transcript.Turn{Dialect: req.Speaks()}, nil
	if resp != nil {
		l.last = req.turn(resp)
		l.last.Model = l.model
		l.failure = l.last.Error
	}
	l.spent.add(req, l.last, l.Prices)
	switch {
	case err != nil && ctx.Err() != nil:
		l.outcome = transcript.ClientDisconnect
	case err != nil:
		l.outcome, l.failure = transcript.UpstreamReset, &transcript.Error{Message: err.Error()}
	case resp.Status >= http.StatusBadRequest:
		l.outcome = transcript.HTTPError
	case l.last.Error != nil:
		l.outcome = transcript.StreamError
	case !l.last.Complete:
		l.outcome = transcript.UpstreamReset
	default:
		l.outcome = transcript.OK
	}
}

// stopped returns why ctx ended.
func stopped(ctx context.Context) transcript.StopReason {
	switch {
	case ctx.Err() == nil:
		return ""
	case errors.Is(context.Cause(ctx), errTimeout):
		return transcript.StopTimeout
	}
	return transcript.StopInterrupt
}

// afterAnswer reports whether the take ends with this answer.
func (l *loop) afterAnswer(ctx context.Context, resp *Response) transcript.StopReason {
	l.turns = append(l.turns, l.last)
	t := l.last
	if l.outcome != transcript.OK {
		if stop := stopped(ctx); stop != "" {
			return stop
		}
		return transcript.StopFailed
	}
	l.open = pending(t, l.tools, l.req.originals)
	switch {
	case l.o.Mode == transcript.Once:
		return transcript.StopOnce
	case cutShort(t):
		return transcript.StopIncomplete
	case asks(t):
		return transcript.StopOpenAsk
	case len(l.open) == 0 && t.FinishReason != pauseTurn:
		return transcript.StopAnswered
	}
	if stop := stopped(ctx); stop != "" {
		return stop
	}
	return l.o.Limits.reached(l.steps, &l.spent)
}

// pauseTurn is how Anthropic says that it wants the answer back as it is, to go on
// with tools that it runs itself (anthropic-sdk-python types/stop_reason).
const pauseTurn = "pause_turn"

// cutShort reports whether an answer broke off at a limit, so that its calls, if there
// are any, may not be whole.
func cutShort(t *transcript.Turn) bool {
	switch t.FinishReason {
	case "length", "max_tokens", "model_context_window_exceeded", "incomplete/max_output_tokens":
		return true
	}
	return false
}

// answers asks the sources for the results of the open calls. Nothing is run unless
// there is a source for each of them.
func (l *loop) answers(ctx context.Context) ([]dialect.Result, transcript.StopReason) {
	sources := chain(l.o.Sources)
	for _, c := range l.open {
		if !sources.covers(c) {
			return nil, transcript.StopOpenCalls
		}
	}
	var results []dialect.Result
	for _, c := range l.open {
		r, err := sources.answer(ctx, c)
		switch {
		case ctx.Err() != nil:
			return nil, stopped(ctx)
		case err != nil:
			l.failure = &transcript.Error{Message: fmt.Sprintf("%s: %v", c.Name, err)}
			return nil, transcript.StopSource
		case r == nil:
			return nil, transcript.StopOpenCalls
		}
		l.tell(Event{Kind: Ran, Call: c, Result: r})
		if err := l.keepResult(ctx, c, r); err != nil {
			l.failure = &transcript.Error{Message: err.Error()}
			return nil, transcript.StopSource
		}
		results = append(results, r.result(c.CallID))
	}
	return results, ""
}

// keepResult notes where a result came from. What was run is kept at once, since it
// may not be run again: if the next request is never sent, a take that resumes
// this one has it.
func (l *loop) keepResult(ctx context.Context, c *Call, r *Result) error {
	kept := transcript.TakeResult{CallID: c.CallID, Name: c.Name, Source: r.Source, From: r.From}
	switch r.Source {
	case transcript.FromRecording, transcript.FromEdit:
		l.brought = append(l.brought, kept)
		return nil
	}
	kept.Text, kept.IsError = r.Text, r.IsError
	l.take.Results, l.brought = append(append(l.take.Results, l.brought...), kept), nil
	return keep(context.WithoutCancel(ctx), l.Store, l.take)
}

// next makes the next request.
func (l *loop) next(results []dialect.Result) transcript.StopReason {
	if l.growing == nil {
		plain, err := l.req.plainBody()
		if err != nil {
			l.failure = &transcript.Error{Message: err.Error()}
			return transcript.StopFailed
		}
		l.growing = dialect.NewGrowing(l.req.Speaks(), plain)
		l.req.Header.Del("Content-Encoding")
	}
	body, err := l.growing.Continue(l.last.Response, results, !l.req.isLent())
	if err != nil {
		l.failure = &transcript.Error{Message: err.Error()}
		return transcript.StopFailed
	}
	l.req.Body, l.open = body, nil
	return ""
}

// end keeps how the take ended.
func (l *loop) end(ctx context.Context, stop transcript.StopReason) (*Take, error) {
	l.take.EndedAt, l.take.Outcome, l.take.StopReason = l.Time(), l.outcome, stop
	if err := keep(ctx, l.Store, l.take); err != nil {
		return nil, err
	}
	return l.result()
}
