package view

import (
	"context"
	"iter"
	"slices"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// An act is a transcript.Act with its origin.
type act struct {
	analysis.Act
	ref   string           // of the step or exchange
	agent *Agent           // nil for a single exchange
	step  *Step            // nil for a single exchange
	sent  bool             // a request contains it, and no recorded answer made it
	said  bool             // the exchange's own answer contains it
	pair  *transcript.Pair // of a call or a lone result
	at    string           // JSON pointer
	from  string           // id of its exchange
	call  *transcript.Item // the call, if this result is another answer to it
}

// acting reads what a run did. Steps that only extend the one before are read from
// the last request among them, which resends everything before it.
type acting struct {
	run       *Run
	ctx       context.Context
	reader    transcript.Reader
	reasoning bool   // answers are read one by one, because not all clients resend reasoning
	branches  bool   // branches are walked too, otherwise only the lines of the agents
	whole     bool   // a stretch starts with all of its first request, including reasoning
	only      *Agent // only this agent and the agents under it; nil for all
	// opening is the complete first request of a line; nil for only what is new in
	// it.
	opening []transcript.Item
	// requests, if set, reads requests in units and cuts all texts (brevity).
	requests *history.Reader

	pairs map[string][]*transcript.Pair            // calls of the answers, by exchange, in order
	calls map[transcript.Place]*transcript.CallRow // whose results a request introduced, by place
	lone  map[transcript.Place]*transcript.Pair
	walks map[string]bool // agents being walked: a recording may contain cycles
	acts  []act
	// thought reports whether there is reasoning among what was read.
	thought bool
}

// all returns what the run did, in transcript order: the acts of a sub-agent come
// after the call that started it.
func (a *acting) all() ([]act, error) {
	a.pairs, a.lone, a.walks = map[string][]*transcript.Pair{}, map[transcript.Place]*transcript.Pair{}, map[string]bool{}
	for i := range a.run.Pairs {
		switch p := &a.run.Pairs[i]; {
		case p.Call == nil && p.Result != nil:
			a.lone[*p.Result] = p
		case p.Call != nil && p.State != transcript.Duplicate:
			a.pairs[p.Call.Exchange] = append(a.pairs[p.Call.Exchange], p)
		}
	}
	a.calls = map[transcript.Place]*transcript.CallRow{}
	for _, row := range a.run.calls {
		for i := range row.Results {
			a.calls[transcript.Place{Exchange: row.Results[i].Exchange, Body: "request", At: row.Results[i].At}] = row
		}
	}
	agents := append(a.run.Main(), a.run.Unattached()...)
	if a.only != nil {
		agents = []*Agent{a.only}
	}
	for _, agent := range agents {
		if err := a.agent(agent, 0); err != nil {
			return nil, err
		}
	}
	return a.acts, nil
}

func (a *acting) agent(agent *Agent, depth int) error {
	if a.walks[agent.ID] {
		return nil
	}
	a.walks[agent.ID] = true
	if err := a.line(agent, agent.Steps, depth); err != nil {
		return err
	}
	if !a.branches {
		return nil
	}
	for _, b := range agent.Branches {
		if b.Steps[0].TakeOf != "" {
			continue
		}
		if err := a.line(agent, b.Steps, depth); err != nil {
			return err
		}
	}
	return nil
}

// line adds the acts of a line of steps.
func (a *acting) line(agent *Agent, steps []*Step, depth int) error {
	scenes, err := a.scenes(steps)
	if err != nil {
		return err
	}
	if a.opening != nil {
		scenes[0].brought = a.opening
	}
	count := 0
	for i := range scenes {
		count += len(scenes[i].brought) + len(scenes[i].answered)
	}
	items := make([]transcript.Item, 0, count)
	for i := range scenes {
		items = append(append(items, scenes[i].brought...), scenes[i].answered...)
	}
	matches := byItem(items)
	n := 0
	for i := range scenes {
		s := &scenes[i]
		pairs := a.pairs[s.step.Exchange]
		for k := range len(s.brought) + len(s.answered) {
			it := &items[n]
			one := act{Act: analysis.Act{Item: it, Depth: depth}, ref: s.step.Ref, agent: agent, step: s.step, sent: k < len(s.brought), said: k >= len(s.brought), at: it.At, from: s.step.Exchange}
			m, matched := matches[n]
			n++
			if it.Kind == transcript.ToolDefinition || matched && it.Kind == transcript.ToolResult && m.State == transcript.Paired {
				continue
			}
			if matched && it.Kind == transcript.ToolCall && m.Result >= 0 {
				one.Result = &items[m.Result]
			}
			if it.Kind == transcript.ToolCall && !it.ServerSide && !one.sent && it.Choice == 0 && len(pairs) > 0 {
				one.pair, pairs = pairs[0], pairs[1:]
				one.at = one.pair.Call.At
			}
			if m.State == transcript.OrphanResult && a.elsewhere(&one) {
				continue
			}
			if one.pair == nil && matched {
				one.pair = &transcript.Pair{CallID: it.CallID, Name: it.Name, State: m.State, By: m.By, IsError: it.IsError || one.Result != nil && one.Result.IsError}
			}
			a.add(one)
			if it.Kind == transcript.ToolCall && one.pair != nil && one.pair.Call != nil {
				for _, under := range a.run.Under(*one.pair.Call) {
					if err := a.agent(under, depth+1); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// elsewhere reports whether a result without a call in its line is already shown
// with the call: a branch resends results of calls before the fork. A result that
// differs from that of the first line is another answer to the call.
func (a *acting) elsewhere(one *act) bool {
	row := a.calls[transcript.Place{Exchange: one.from, Body: "request", At: one.at}]
	if row == nil {
		return false
	}
	call := transcript.Place{Exchange: row.Exchange, Body: "response", At: row.At}
	for i := range a.acts {
		p := a.acts[i].pair
		if p == nil || p.Call == nil || *p.Call != call {
			continue
		}
		if sameItem(a.acts[i].Result, one.Item) {
			return true
		}
		if a.acts[i].Item.Kind == transcript.ToolCall {
			one.call = a.acts[i].Item
		}
	}
	p := &transcript.Pair{CallID: row.CallID, Name: row.Name, State: transcript.Paired, Call: &call, Result: &transcript.Place{Exchange: one.from, Body: "request", At: one.at}, IsError: one.Item.IsError}
	for i := range row.Results {
		if res := &row.Results[i]; res.Exchange == one.from && res.At == one.at {
			p.By, p.IsError, p.LatencyMS = res.By, res.IsError, res.LatencyMS
		}
	}
	one.pair = p
	return false
}

// byItem returns the matches of items by their indexes.
func byItem(items []transcript.Item) map[int]transcript.Match {
	matches := map[int]transcript.Match{}
	for _, m := range transcript.PairItems(items) {
		if m.Call >= 0 && m.State != transcript.Duplicate {
			matches[m.Call] = m
		}
		if m.Result >= 0 {
			matches[m.Result] = m
		}
	}
	return matches
}

// add adds an act. Consecutive texts of one side become one text, because the
// number of parts is up to the client and the API.
func (a *acting) add(one act) { a.acts = appendAct(a.acts, one) }

func appendAct(list []act, one act) []act {
	if n := len(list); n > 0 {
		last := &list[n-1]
		it, was := one.Item, last.Item
		text := it.Kind == transcript.MessageItem || it.Kind == transcript.System
		if text && it.Kind == was.Kind && it.Role == was.Role && it.Choice == was.Choice && last.ref == one.ref && last.sent == one.sent && last.Depth == one.Depth {
			joined := *was
			if it.Kind == transcript.System {
				joined.Text += "\n"
			}
			joined.Text += it.Text
			joined.Parts = append(joined.Parts[:len(joined.Parts):len(joined.Parts)], it.Parts...)
			last.Item = &joined
			return list
		}
		if it.Kind == transcript.Reasoning && it.Text == "" {
			return list
		}
	}
	return append(list, one)
}

// scene is the input and the answer of one step.
type scene struct {
	step              *Step
	begins            bool // a stretch
	brought, answered []transcript.Item
}

// scenes reads the steps of a line.
func (a *acting) scenes(steps []*Step) ([]scene, error) {
	list := make([]scene, 0, len(steps))
	for stretch, err := range a.stretches(steps) {
		if err != nil {
			return nil, err
		}
		list = append(list, stretch...)
	}
	return list, nil
}

// stretches reads the steps of a line. Steps that extend each other are read
// together.
func (a *acting) stretches(steps []*Step) iter.Seq2[[]scene, error] {
	return func(yield func([]scene, error) bool) {
		for start := 0; start < len(steps); {
			end := start + 1
			for end < len(steps) && resendsAll(steps[end-1].exchange, steps[end].exchange) {
				end++
			}
			list := make([]scene, end-start)
			for i := range list {
				list[i].step = steps[start+i]
			}
			if !yield(list, a.stretch(list)) {
				return
			}
			start = end
		}
	}
}

// resendsAll reports whether a request resends everything that the exchange before
// it sent and received, with the same settings.
func resendsAll(before, e *transcript.Exchange) bool {
	l := &e.Link
	return l.Parent == before.ID && resends(l, &before.Link) && l.Shared > 0 && !l.Change.System && !l.Change.Tools && e.Dialect == before.Dialect && e.Request.Bytes <= history.MaxBody
}

// stretch reads steps that extend each other, from the last of them.
func (a *acting) stretch(list []scene) error {
	list[0].begins = true
	last := list[len(list)-1].step.exchange
	items, err := a.request(last)
	if err != nil {
		return err
	}
	first := list[0].step.exchange
	fresh := func(_, _ int) bool { return true }
	if !a.whole {
		if fresh, err = a.fresh(first, items); err != nil {
			return err
		}
	}
	at := last.Link.InLen // number of chain items before the current one
	for i := range items {
		if items[i].InChain() {
			at--
		}
	}
	at = max(at, 0)
	n := 0
	for i := range items {
		for n < len(list)-1 && at >= list[n].step.exchange.Link.OutLen {
			n++
		}
		link := &list[n].step.exchange.Link
		it := &items[i]
		switch steady := it.IsSetting() && at == 0; {
		case it.Kind == transcript.Reasoning && !a.reasoning && !a.whole:
		case at >= link.InLen && n < len(list)-1 && it.Kind != transcript.System:
			if !a.reasoning {
				list[n].answered = append(list[n].answered, *it)
			}
		case n > 0 || fresh(i, at) || steady && (first.Link.Parent == "" || first.Link.Change.System):
			if it.Kind != transcript.Reasoning || a.whole {
				list[n].brought = append(list[n].brought, *it)
			}
		}
		if it.InChain() {
			at++
		}
	}
	for k := range list {
		if k == len(list)-1 || a.reasoning {
			if list[k].answered, err = a.answer(list[k].step.exchange); err != nil {
				return err
			}
		}
	}
	return nil
}

// fresh returns a function that reports which items of a request are missing from
// the step before the stretch.
func (a *acting) fresh(first *transcript.Exchange, items []transcript.Item) (func(i, at int) bool, error) {
	parent := a.run.exchanges[first.Link.Parent]
	shared := first.Link.Shared
	if parent == nil || held(&first.Link) || resends(&first.Link, &parent.Link) {
		if held(&first.Link) {
			shared = 0
		}
		return func(_, at int) bool { return at >= shared }, nil
	}
	before, err := a.request(parent)
	if err == nil {
		var output []transcript.Item
		output, err = a.answer(parent)
		before = append(before, output...)
	}
	if err != nil {
		return nil, err
	}
	is := map[int]bool{}
	for _, p := range analysis.Compare(before, items) {
		if p.Item >= 0 && p.Origin != analysis.Kept {
			is[p.Item] = true
		}
	}
	return func(i, _ int) bool { return is[i] }, nil
}

func (a *acting) request(e *transcript.Exchange) ([]transcript.Item, error) {
	if a.requests != nil {
		r, err := a.requests.Request(e)
		if err != nil {
			return nil, ignoreLost(err)
		}
		items := a.requests.CutItems(r)
		a.sees(items)
		return settingsFirst(items), nil
	}
	turn, err := history.DecodeRequest(a.ctx, a.reader, e)
	if err != nil {
		return nil, ignoreLost(err)
	}
	a.sees(turn.Input)
	return settingsFirst(turn.Input), nil
}

// sees records whether there is reasoning among items.
func (a *acting) sees(items []transcript.Item) {
	a.thought = a.thought || slices.ContainsFunc(items, func(it transcript.Item) bool { return it.Kind == transcript.Reasoning })
}

// settingsFirst moves system texts and tools that are separate from the
// conversation before it. Their position in a body is up to the client.
func settingsFirst(items []transcript.Item) []transcript.Item {
	isFirst := func(it transcript.Item) bool { return it.IsSetting() && history.IsBeside(it.At) }
	rest := slices.IndexFunc(items, func(it transcript.Item) bool { return !isFirst(it) })
	if rest < 0 || !slices.ContainsFunc(items[rest:], isFirst) {
		return items
	}
	sorted := make([]transcript.Item, 0, len(items))
	for _, first := range []bool{true, false} {
		for i := range items {
			if isFirst(items[i]) == first {
				sorted = append(sorted, items[i])
			}
		}
	}
	return sorted
}

func (a *acting) answer(e *transcript.Exchange) ([]transcript.Item, error) {
	turn, err := history.DecodeAnswer(a.ctx, a.reader, e)
	if err != nil {
		return nil, ignoreLost(err)
	}
	items := turn.Output
	a.sees(items)
	if !a.reasoning && !a.whole {
		items = withoutReasoning(items)
	}
	if a.requests != nil {
		items = a.requests.Cut(items)
	}
	return items, nil
}

// ignoreLost drops errors about unreadable exchanges, so that the rest is still
// read.
func ignoreLost(err error) error {
	if lost(err) != "" {
		return nil
	}
	return err
}
