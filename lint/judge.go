package lint

import (
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// Step is one exchange to be judged.
type Step struct {
	Exchange *transcript.Exchange // its id and link; the zero Exchange for a request alone
	Turn     *transcript.Turn
	// New says that Turn.Input holds only what follows the input of Link.Parent (its
	// answer as it was sent back, and new items), and that Settings holds the system
	// prompt and the tools. The parent must have been judged before, Link.Shared must
	// be its Link.OutLen, and no other step may continue it this way. Without New the
	// input is all that was sent, and its first Link.Shared chain items are not new.
	New      bool
	Settings []transcript.Item
}

// Judge judges the steps of a run in the order in which they were recorded. The zero
// Judge is ready for use.
type Judge struct {
	// Cost returns what a number of input tokens costs at an exchange's model, such
	// as "$0.12", or "". It may be nil.
	Cost func(e *transcript.Exchange, inputTokens int64) string

	findings []*Finding
	lines    map[string]*line // by exchange
	last     map[string]*line // by agent: its latest step
	schemas  schemas
}

// line is what is known after an exchange.
type line struct {
	step    *transcript.Exchange
	history *history // nil once a step that continues it took it over
	output  []transcript.Item
	set     *settings
}

// Exchange judges one exchange, with all the history that it resends. parent is the
// exchange that it continues, nil if unknown: resent items are compared with it.
func Exchange(s Step, parent *Step) []Finding {
	var j Judge
	if parent != nil {
		set := settingsOf(parent, nil)
		j.lines = map[string]*line{parent.Exchange.ID: {step: parent.Exchange, output: parent.Turn.Output, set: set}}
	}
	whole := *s.Exchange
	whole.Link.Shared = 0
	j.step(Step{Exchange: &whole, Turn: s.Turn}, s.Exchange.Link.Shared, nil)
	return j.Findings()
}

// Step judges what is new in a step.
func (j *Judge) Step(s Step) {
	var said *settings
	if before := j.lines[s.Exchange.Link.Parent]; before != nil {
		said = before.set
	}
	j.step(s, s.Exchange.Link.Shared, said)
}

// Findings returns what was found so far, in the order of the steps.
func (j *Judge) Findings() []Finding {
	out := []Finding{}
	for _, f := range j.findings {
		if f.weigh != nil {
			f.weigh(f)
		}
		if !f.dropped {
			out = append(out, *f)
		}
	}
	return out
}

// step judges a step that shares a number of items with its parent. said are the
// settings that were judged before, nil for none.
func (j *Judge) step(s Step, shared int, said *settings) {
	e, t := s.Exchange, s.Turn
	var before *line
	if e.Link.Parent != "" {
		before = j.lines[e.Link.Parent]
	}
	l := &line{step: e, output: t.Output, set: settingsOf(&s, said)}
	w := walker{judge: j, step: e, turn: t, api: apiOf(t.Dialect), set: l.set, before: said}
	w.request()
	if before != nil {
		w.changes(before, l, s.New)
	}
	l.history = w.input(s, before)
	w.output()
	j.edited(e, l, &w, shared)
	if j.lines == nil {
		j.lines = map[string]*line{}
	}
	j.lines[e.ID] = l
}

// walker judges one step.
type walker struct {
	judge   *Judge
	step    *transcript.Exchange
	turn    *transcript.Turn
	api     *dialect.API // of the turn
	set     *settings
	before  *settings // of the step before; nil if these must be judged
	history *history
	silent  bool // the current item was judged before
}

// apiOf returns the descriptor of a dialect. An unknown one has no rules.
func apiOf(d transcript.Dialect) *dialect.API {
	api := dialect.Of(d)
	if !dialect.Known(d) {
		api.Rules.Call = func([]byte) (string, dialect.Form) { return "", dialect.FreeText }
		api.Rules.Content = func([]byte) string { return "" }
	}
	return api
}

// find adds a finding and returns it, so that later items can change it.
func (w *walker) find(code string, s Severity, at spot, callID, format string, args ...any) *Finding {
	f := &Finding{Code: code, Severity: s, Exchange: at.exchange, Body: at.body, At: at.at, CallID: callID, Message: fmt.Sprintf(format, args...)}
	if !w.silent && !(w.step.Imported == transcript.ViewOnly && isForm(code)) {
		w.judge.findings = append(w.judge.findings, f)
	}
	return f
}

// isForm reports whether a finding is about the form of a request. It does not apply
// to a request that was reconstructed for viewing.
func isForm(code string) bool {
	switch code {
	case "missing_max_tokens", "parallel_results_split", "missing_tool_result":
		return true
	}
	return false
}

func (w *walker) in(at string) spot  { return spot{w.step.ID, "request", at} }
func (w *walker) out(at string) spot { return spot{w.step.ID, "response", at} }

// input takes over the history of the step before, or reads it again silently, and
// judges what is new.
func (w *walker) input(s Step, before *line) *history {
	items := conversation(w.turn.Input)
	known := w.step.Link.Shared
	if s.New && before != nil {
		known -= before.step.Link.InLen
	}
	known = knownItems(items, known)
	if before != nil && before.history != nil && w.continues(s, before) {
		w.history, before.history = before.history, nil
		if !w.held() {
			w.sentBack(items[:known], before, s.New)
			items, known = items[known:], 0
		}
	} else {
		w.history = newHistory(w)
	}
	h := w.history
	for i, it := range items {
		w.silent = i < known
		h.read(w, it, w.in(it.At))
	}
	w.silent = false
	h.endOfInput(w)
	return h
}

// sentBack records where this request holds the calls of the answer before: a missing
// result is reported there.
func (w *walker) sentBack(known []*transcript.Item, before *line, isNew bool) {
	if !isNew {
		known = known[knownItems(known, before.step.Link.InLen):]
	}
	for _, it := range known {
		if open := w.history.byID[it.CallID]; it.Kind == transcript.ToolCall && len(open) > 0 {
			open[len(open)-1].at = w.in(it.At)
		}
	}
}

// continues reports whether the history after the step before is the history of this
// one: it was sent back whole, or the provider holds it.
func (w *walker) continues(s Step, before *line) bool {
	return s.New || w.held() || w.step.Link.Shared > 0 && w.step.Link.Shared == before.step.Link.OutLen
}

// conversation returns the items that are not settings.
func conversation(input []transcript.Item) []*transcript.Item {
	items := make([]*transcript.Item, 0, len(input))
	for i := range input {
		if !input[i].IsSetting() || input[i].Kind == transcript.System {
			items = append(items, &input[i])
		}
	}
	return items
}

// knownItems returns how many items there are up to the last of a number of chain
// items.
func knownItems(items []*transcript.Item, shared int) int {
	for i, it := range items {
		if shared <= 0 {
			return i
		}
		if it.InChain() {
			shared--
		}
	}
	return len(items)
}

// output judges the answer. Further choices (n > 1) are not part of the history.
func (w *walker) output() {
	w.answer()
	for i := range w.turn.Output {
		it := &w.turn.Output[i]
		at := w.out(it.At)
		if it.Choice > 0 {
			w.arguments(it, at)
			continue
		}
		w.history.read(w, it, at)
	}
}

// edited compares a step with the latest step of its agent.
func (j *Judge) edited(e *transcript.Exchange, l *line, w *walker, shared int) {
	if e.Link.Agent == "" || e.Link.Side {
		return
	}
	if j.last == nil {
		j.last = map[string]*line{}
	}
	before := j.last[e.Link.Agent]
	j.last[e.Link.Agent] = l
	if before == nil || e.Link.Attempt > 1 || e.Link.Step <= before.step.Link.Step || w.held() || shared >= before.step.Link.OutLen {
		return
	}
	w.lostHistory(before, shared)
}

// lostHistory reports what happened to history that was not sent back.
func (w *walker) lostHistory(before *line, shared int) {
	lost := before.step.Link.OutLen - shared
	items := conversation(w.turn.Input)
	at := w.in("")
	if k := knownItems(items, shared); k < len(items) {
		at = w.in(items[k].At)
	}
	if w.step.Link.InLen <= before.step.Link.InLen || hasCompaction(items) {
		w.find("history_dropped", Warning, at, "", "the last %d items of the history of step %d were left out: check that nothing the model needs went with them", lost, before.step.Link.Step)
		return
	}
	w.find("history_edited", Warning, at, "", "from here on the history is not what step %d sent and got (%d items): send it back as it was, or the prompt cache starts over", before.step.Link.Step, lost)
}

func hasCompaction(items []*transcript.Item) bool {
	return slices.ContainsFunc(items, func(it *transcript.Item) bool { return it.Kind == transcript.Compaction })
}
