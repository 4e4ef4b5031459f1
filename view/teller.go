package view

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// Told is a step as a run tells it: what its request brought, what the model
// answered, and what came of its calls. What the step before held already is
// not told again.
type Told struct {
	Step    *Step   `json:"step"`
	Entries []Entry `json:"entries"`
	Context Context `json:"context"`
	// Missing says that the request leans on a history that was not recorded.
	Missing bool `json:"missing_history"`
	// Lost says why something of it cannot be shown: Pruned or Damaged.
	Lost     string   `json:"lost"`
	Warnings []string `json:"warnings"`
}

// Context says how what the model saw came of the step before.
type Context struct {
	Kept      int      `json:"kept"` // items, of those that count in the chain
	New       int      `json:"new"`
	Rewritten int      `json:"rewritten"`
	Dropped   int      `json:"dropped"`
	Changes   []Change `json:"changes"` // what was rewritten or dropped
	// System says that the system prompt is another one, not counting what
	// changes by itself from call to call, such as dates.
	System       bool     `json:"system_changed"`
	Tools        []string `json:"tools"` // names of those offered, of the first step
	ToolsAdded   []string `json:"tools_added"`
	ToolsRemoved []string `json:"tools_removed"`
}

// Change is an item that a step rewrote or dropped.
type Change struct {
	Origin transcript.Origin `json:"origin"`
	Was    transcript.Item   `json:"was"`
	Now    *transcript.Item  `json:"now"` // nil of one that was dropped
}

// Teller tells the steps of a run. Steps that follow each other are told at the
// cost of what is new in them.
type Teller struct {
	run      *Run
	reader   transcript.Reader
	ctx      context.Context
	requests requests
	results  map[transcript.Place]*transcript.CallRow // by where a result is
	answers  map[string]*transcript.Turn              // read last, by exchange
	settings map[string]*settings                     // of the steps told, by exchange
}

type settings struct {
	pieces []transcript.BodyID
	short  transcript.Settings
	tools  []string
}

// NewTeller makes a teller for a run.
func NewTeller(ctx context.Context, r transcript.Reader, run *Run) *Teller {
	t := &Teller{run: run, reader: r, ctx: ctx, requests: newRequests(ctx, r),
		results: map[transcript.Place]*transcript.CallRow{}, answers: map[string]*transcript.Turn{}, settings: map[string]*settings{}}
	for _, row := range run.calls {
		for _, res := range row.Results {
			t.results[transcript.Place{Exchange: res.Exchange, Body: "request", At: res.At}] = row
		}
	}
	return t
}

// Tell tells a step of the run.
func (t *Teller) Tell(s *Step) (*Told, error) {
	told := &Told{Step: s, Entries: []Entry{}, Warnings: s.exchange.Warnings}
	e := s.exchange
	now, err := t.requests.read(e)
	if why := lost(err); why != "" {
		told.Lost = why
		return told, nil
	}
	if err != nil {
		return nil, err
	}
	told.Missing = now.previous != "" && !held(&e.Link)
	before, err := t.before(told, e)
	if err != nil {
		return nil, err
	}
	fresh := t.compare(told, now, before)
	t.setUp(told, now, before)
	if err := t.brought(told, fresh); err != nil {
		return nil, err
	}
	return told, t.answered(told)
}

// past is the step that another one extends.
type past struct {
	request *request
	output  []transcript.Item
}

// before reads what the step extends; nil if it begins a history.
func (t *Teller) before(told *Told, e *transcript.Exchange) (*past, error) {
	if e.Link.Parent == "" {
		return nil, nil
	}
	parent := t.run.exchanges[e.Link.Parent]
	if parent == nil {
		var err error
		if parent, err = t.reader.Exchange(t.ctx, e.Link.Parent); err != nil {
			if told.Lost = lost(err); told.Lost != "" {
				return nil, nil
			}
			return nil, err
		}
	}
	r, err := t.requests.read(parent)
	if err == nil {
		var turn *transcript.Turn
		if turn, err = t.answer(parent); err == nil {
			return &past{r, turn.Output}, nil
		}
	}
	if told.Lost = lost(err); told.Lost != "" {
		return nil, nil
	}
	return nil, err
}

// compare finds what is new in a request, and what became of the history
// before.
func (t *Teller) compare(told *Told, now *request, before *past) []transcript.Item {
	l := &now.exchange.Link
	c := &told.Context
	if before == nil {
		c.New = l.InLen
		return systemFirst(t.requests.items(now))
	}
	if held(l) {
		c.Kept, c.New = before.request.exchange.Link.OutLen, max(0, l.InLen-before.request.exchange.Link.OutLen)
		return t.requests.items(now)
	}
	if resends(l, &before.request.exchange.Link) {
		c.Kept, c.New = l.Shared, l.InLen-l.Shared
		return withoutReasoning(t.requests.behind(now, l.Shared))
	}
	return t.provenance(c, now, before)
}

// systemFirst puts the system texts that stand beside the conversation before
// it: where they are in a body is up to the client.
func systemFirst(items []transcript.Item) []transcript.Item {
	var first, rest []transcript.Item
	for i := range items {
		if member, _, _ := strings.Cut(strings.TrimPrefix(items[i].At, "/"), "/"); items[i].Kind == transcript.System && !arrayOf(member).isHistory() {
			first = append(first, items[i])
		} else {
			rest = append(rest, items[i])
		}
	}
	return append(first, rest...)
}

// resends tells whether a history begins with all of the one before. A call that
// is repeated says nothing of what stands before it.
func resends(l, before *transcript.Link) bool {
	return l.Shared == before.OutLen && (l.By == transcript.ByHistory || l.By == transcript.ByLoose || l.By == transcript.ByChoice)
}

// held tells whether the provider holds the history that a request extends.
func held(l *transcript.Link) bool { return l.Held() }

// provenance holds the whole of two steps against each other.
func (t *Teller) provenance(c *Context, now *request, before *past) []transcript.Item {
	was := inChain(append(t.requests.items(before.request), before.output...))
	is := inChain(t.requests.items(now))
	var fresh []transcript.Item
	for _, p := range transcript.Compare(was, is) {
		switch p.Origin {
		case transcript.Kept:
			c.Kept++
		case transcript.New:
			c.New++
			fresh = append(fresh, is[p.Item])
		case transcript.Rewritten:
			c.Rewritten++
			c.Changes = append(c.Changes, Change{p.Origin, was[p.Was], &is[p.Item]})
		case transcript.Dropped:
			c.Dropped++
			c.Changes = append(c.Changes, Change{Origin: p.Origin, Was: was[p.Was]})
		}
	}
	return fresh
}

func inChain(items []transcript.Item) []transcript.Item {
	return slices.DeleteFunc(slices.Clone(items), func(it transcript.Item) bool { return !it.InChain() })
}

// withoutReasoning leaves out the reasoning that is sent again.
func withoutReasoning(items []transcript.Item) []transcript.Item {
	return slices.DeleteFunc(slices.Clone(items), func(it transcript.Item) bool { return it.Kind == transcript.Reasoning })
}

// setUp tells of the system prompt and the tools: of the first step, and where
// they are others than in the step before.
func (t *Teller) setUp(told *Told, now *request, before *past) {
	var was *settings
	if before != nil {
		was = t.settingsOf(before.request)
	}
	is := t.settingsOf(now)
	c := &told.Context
	if was == nil {
		c.Tools = is.tools
		return
	}
	if is == was || held(&now.exchange.Link) && len(is.tools) == 0 {
		return
	}
	c.System = is.short.System != was.short.System
	for _, name := range is.tools {
		if !slices.Contains(was.tools, name) {
			c.ToolsAdded = append(c.ToolsAdded, name)
		}
	}
	for _, name := range was.tools {
		if !slices.Contains(is.tools, name) {
			c.ToolsRemoved = append(c.ToolsRemoved, name)
		}
	}
	if c.System {
		list, _ := t.requests.settings(now)
		for i := range list {
			if list[i].Kind == transcript.System {
				told.Entries = append(told.Entries, t.entry(now.exchange, "request", &list[i]))
			}
		}
	}
}

// settingsOf reads the settings of a request. Those in the same pieces as the
// ones read last are the same.
func (t *Teller) settingsOf(r *request) *settings {
	id := r.exchange.ID
	if s := t.settings[id]; s != nil {
		return s
	}
	list, pieces := t.requests.settings(r)
	for _, s := range t.settings {
		if pieces != nil && slices.Equal(s.pieces, pieces) {
			t.keepSettings(id, s)
			return s
		}
	}
	s := &settings{pieces: pieces, short: transcript.SettingsOf(list)}
	for i := range list {
		if list[i].Kind == transcript.ToolDefinition {
			s.tools = append(s.tools, list[i].Name)
		}
	}
	t.keepSettings(id, s)
	return s
}

func (t *Teller) keepSettings(id string, s *settings) {
	if len(t.settings) > keptRequests {
		clear(t.settings)
	}
	t.settings[id] = s
}

func (t *Teller) entry(e *transcript.Exchange, body string, it *transcript.Item) Entry {
	return Entry{Item: *it, Place: transcript.Place{Exchange: e.ID, Body: body, At: it.At}, Source: Ref(e.N), New: true, Output: body == "response"}
}

// brought tells the new items of a request. Results that stand beside their
// calls in the step before are left out.
func (t *Teller) brought(told *Told, fresh []transcript.Item) error {
	e := told.Step.exchange
	matches := transcript.PairItems(fresh)
	byCall, byResult := map[int]transcript.Match{}, map[int]transcript.Match{}
	for _, m := range matches {
		if m.Call >= 0 && m.State != transcript.Duplicate {
			byCall[m.Call] = m
		}
		if m.Result >= 0 {
			byResult[m.Result] = m
		}
	}
	for i := range fresh {
		it := &fresh[i]
		entry := t.entry(e, "request", it)
		switch {
		case it.Kind == transcript.ToolDefinition, it.Kind == transcript.System && told.Context.System:
			continue
		case it.Kind == transcript.ToolCall:
			t.sentCall(&entry, byCall[i], fresh)
		case it.Kind == transcript.ToolResult:
			if t.beside(&entry) || byResult[i].State == transcript.Paired {
				continue
			}
			if entry.Pair == nil {
				p := transcript.Pair{CallID: it.CallID, Name: it.Name, State: byResult[i].State, Result: &entry.Place, IsError: it.IsError}
				entry.Pair = &p
			}
		}
		told.Entries = append(told.Entries, entry)
	}
	return nil
}

// sentCall pairs a call that a request holds though no recorded answer made it.
func (t *Teller) sentCall(entry *Entry, m transcript.Match, fresh []transcript.Item) {
	p := transcript.Pair{CallID: entry.Item.CallID, Name: entry.Item.Name, State: m.State, Call: &entry.Place, By: m.By}
	if m.State == "" { // the provider ran it
		return
	}
	if m.Result >= 0 {
		it := fresh[m.Result]
		place := transcript.Place{Exchange: entry.Place.Exchange, Body: "request", At: it.At}
		p.Result, p.IsError = &place, it.IsError
		entry.Result, entry.ResultSource, entry.ResultNew = &it, entry.Source, true
	}
	entry.Pair = &p
}

// beside tells whether a result is told beside its call. One that another
// branch answered otherwise is told where it is.
func (t *Teller) beside(entry *Entry) bool {
	row := t.results[entry.Place]
	if row == nil {
		return false
	}
	for _, res := range row.Results {
		if res.Exchange != entry.Place.Exchange || res.At != entry.Place.At {
			continue
		}
		first := t.run.firstResult(row)
		if first.Exchange == res.Exchange && first.At == res.At || first.Exchange != res.Exchange && t.sameInput(first.Exchange, res.Exchange) {
			return true
		}
		state := transcript.Paired
		if first.Exchange == res.Exchange {
			state = transcript.Duplicate
		}
		latency := res.LatencyMS
		entry.Pair = &transcript.Pair{CallID: row.CallID, Name: row.Name, State: state, By: res.By, IsError: res.IsError, LatencyMS: &latency,
			Call: &transcript.Place{Exchange: row.Exchange, Body: "response", At: row.At}, Result: &entry.Place}
	}
	return false
}

// sameInput tells whether two exchanges asked the same: attempts at a step, or
// branches that leave at an answer.
func (t *Teller) sameInput(a, b string) bool {
	one, other := t.run.exchanges[a], t.run.exchanges[b]
	return one != nil && other != nil && one.Link.InNode == other.Link.InNode
}

// answered tells the answer, its calls with what came of them.
func (t *Teller) answered(told *Told) error {
	e := told.Step.exchange
	turn, err := t.answer(e)
	if why := lost(err); why != "" {
		told.Lost = why
		return nil
	}
	if err != nil {
		return err
	}
	paired := map[int]int{} // results of calls that the provider ran
	for _, m := range transcript.PairItems(turn.Output) {
		if m.Call >= 0 && m.Result >= 0 {
			paired[m.Call], paired[m.Result] = m.Result, -1
		}
	}
	for i := range turn.Output {
		it := &turn.Output[i]
		entry := t.entry(e, "response", it)
		result, ok := paired[i]
		switch {
		case ok && result < 0:
			continue
		case ok:
			r := turn.Output[result]
			place := transcript.Place{Exchange: e.ID, Body: "response", At: r.At}
			entry.Result, entry.ResultSource = &r, entry.Source
			entry.Pair = &transcript.Pair{CallID: it.CallID, Name: it.Name, State: transcript.Paired, By: "id", IsError: r.IsError, Call: &entry.Place, Result: &place}
		case it.Kind == transcript.ToolCall && !it.ServerSide:
			entry.Batch = batchOf(turn.Output, i)
			if err := t.result(&entry); err != nil {
				return err
			}
		}
		told.Entries = append(told.Entries, entry)
	}
	return nil
}

// batchOf counts the calls of one answer.
func batchOf(items []transcript.Item, i int) int {
	n := 0
	for k := range items {
		if items[k].Kind == transcript.ToolCall && !items[k].ServerSide && items[k].Choice == items[i].Choice {
			n++
		}
	}
	return n
}

// result puts beside a call what came of it.
func (t *Teller) result(entry *Entry) error {
	p := transcript.Pair{CallID: entry.Item.CallID, Name: entry.Item.Name, State: transcript.Unanswered, Call: &entry.Place}
	entry.Pair = &p
	for _, a := range t.run.Under(entry.Place) {
		entry.SubAgents = append(entry.SubAgents, a.Ref)
	}
	row := t.run.calls[entry.Place]
	if row == nil {
		return nil
	}
	first := t.run.firstResult(row)
	if first == nil {
		return nil
	}
	latency := first.LatencyMS
	p.State, p.By, p.IsError, p.LatencyMS = transcript.Paired, first.By, first.IsError, &latency
	p.Result = &transcript.Place{Exchange: first.Exchange, Body: "request", At: first.At}
	from := t.run.exchanges[first.Exchange]
	if from == nil {
		return nil
	}
	entry.ResultSource = Ref(from.N)
	for _, res := range row.Results {
		if other := t.run.exchanges[res.Exchange]; other != nil && res.Exchange != first.Exchange && !t.sameInput(first.Exchange, res.Exchange) {
			entry.AlsoIn = append(entry.AlsoIn, Ref(other.N))
		}
	}
	request, err := t.requests.read(from)
	if err != nil && lost(err) == "" {
		return err
	}
	if err == nil {
		entry.Result = t.requests.at(request, first.At)
	}
	return nil
}

// answer reads the answer of an exchange.
func (t *Teller) answer(e *transcript.Exchange) (*transcript.Turn, error) {
	if turn := t.answers[e.ID]; turn != nil {
		return turn, nil
	}
	body, err := readBody(t.ctx, t.reader, &e.Response)
	if err != nil {
		return nil, err
	}
	turn := dialect.Decode(e.Dialect, &dialect.Wire{Method: e.Method, URL: e.URL, Status: e.Status, ResponseHeader: e.Response.Headers, Response: body})
	if len(t.answers) > keptRequests {
		clear(t.answers)
	}
	t.answers[e.ID] = turn
	return turn, nil
}

// Models gives the model that a step was asked of, and the one that answered if
// that is another.
func (s *Step) Models() (asked, answered string) {
	return cmp.Or(s.exchange.Model, s.exchange.ResponseModel), s.exchange.ResponseModel
}
