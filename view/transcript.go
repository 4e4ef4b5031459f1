package view

import (
	"context"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// Transcript is the conversation of one exchange: the model's context, its answer,
// and the results of its calls.
type Transcript struct {
	Exchange *Exchange `json:"exchange"`
	Entries  []Entry   `json:"entries"`
	Tools    []string  `json:"tools"` // names of the tools that the model was offered
	// Missing reports that the request continues a history that was not recorded.
	Missing bool `json:"missing_history"`
	// Lost says why what this exchange continues cannot be shown: Pruned or Damaged.
	Lost string `json:"lost_history"`
	// Damage is why only the answer is there: the request is unreadable.
	Damage   error `json:"-"`
	Parent   *Row  `json:"parent"`   // the exchange that this one continues
	Children []Row `json:"children"` // the exchanges that continue this one
	Takes    []Row `json:"takes"`    // replays of this one
	// Candidates is the number of takes of a minimisation, which are not in Takes.
	Candidates int               `json:"candidates"`
	TakeOf     *Row              `json:"take_of"` // the exchange that this one replays
	Take       *Take             `json:"take"`    // the take that sent this one
	Edits      []transcript.Edit `json:"edits"`   // what the replay changed
	// Findings are those of the exchange that belong to no entry.
	Findings []lint.Finding `json:"findings"`
}

// Entry is one line of a transcript: an item, or a call with its result.
type Entry struct {
	Item   transcript.Item  `json:"item"`
	Place  transcript.Place `json:"place"`
	Source string           `json:"source"` // short reference of its exchange
	Output bool             `json:"output"` // it is part of this exchange's answer
	New    bool             `json:"new"`    // the history before does not contain it
	Batch  int              `json:"batch"`  // > 1: the number of calls made at once
	Pair   *transcript.Pair `json:"pair"`   // for a call, or a result without a call
	Result *transcript.Item `json:"result"` // the result of the call
	// ResultSource is the short reference of the exchange that introduced the result.
	ResultSource string   `json:"result_source"`
	ResultNew    bool     `json:"result_new"` // this request introduced the result
	AlsoIn       []string `json:"also_in"`    // exchanges with other results for the same call
	// Edit is the replay's change to the result.
	Edit *transcript.Edit `json:"edit"`
	// From is the source of a replayed result, "" without a replay.
	From transcript.Source `json:"from,omitempty"`
	// Example reports that a developer put the item there (Exchange.Examples).
	Example bool `json:"example,omitempty"`
	// Findings are those about the item or its result.
	Findings []lint.Finding `json:"findings,omitempty"`
	// SubAgents are the references of the agents that the call started.
	SubAgents []string `json:"sub_agents,omitempty"`
}

// NewTranscript builds the conversation of a stored exchange, with its findings.
func NewTranscript(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*Transcript, error) {
	t, turn, err := newTranscript(ctx, r, e)
	if err != nil {
		if t, err = answerOnly(ctx, r, e, err); err != nil {
			return nil, err
		}
		return t, t.around(ctx, r, e)
	}
	if t.Exchange.Lint, err = findings(ctx, r, e, turn); err != nil {
		return nil, err
	}
	if t.Exchange.Examples, err = examplesIn(ctx, r, e, turn.Input); err != nil {
		return nil, err
	}
	t.Exchange.Examples.mark(e.ID, t.Entries)
	pins := pinnedFrom(t.Exchange.Lint)
	pins.hang(e.ID, t.Entries)
	t.Findings = append(t.Findings, pins.rest(e.ID)...)
	return t, t.around(ctx, r, e)
}

// newTranscript builds the conversation alone.
func newTranscript(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*Transcript, *transcript.Turn, error) {
	h, err := readHistory(ctx, r, e)
	if err != nil {
		return nil, nil, err
	}
	return h.transcript(ctx, r, e)
}

// answerOnly shows only the answer of an exchange whose request is damaged. It
// omits findings, which would be about the lost part. If there is no answer, it
// returns the cause.
func answerOnly(ctx context.Context, r transcript.Reader, e *transcript.Exchange, why error) (*Transcript, error) {
	turn, err := history.DecodeAnswerDespite(ctx, r, e, why)
	if err != nil {
		return nil, err
	}
	h := &conversation{exchange: e, turn: turn}
	h.addOutput()
	t, _, err := h.transcript(ctx, r, e)
	if err == nil {
		t.Damage = why
	}
	return t, err
}

func (h *conversation) transcript(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*Transcript, *transcript.Turn, error) {
	j, err := join(ctx, r, h)
	if err != nil {
		return nil, nil, err
	}
	t := &Transcript{Exchange: j.exchange(e), Tools: []string{}, Missing: h.missing, Lost: h.lost, Entries: []Entry{}, Findings: []lint.Finding{}}
	b := builder{ctx: ctx, reader: r, joined: j, shown: map[transcript.Place]*transcript.Item{}, refs: map[string]string{e.ID: Ref(e.N)}}
	for i := range j.items {
		b.shown[j.items[i].place] = &j.items[i].Item
	}
	return t, j.turn, b.entries(t)
}

// around sets the exchanges and takes linked to the exchange.
func (t *Transcript) around(ctx context.Context, r transcript.Reader, e *transcript.Exchange) error {
	children, err := r.Children(ctx, e.ID)
	if err != nil && lost(err) == "" {
		return err
	}
	t.Children = []Row{}
	for _, c := range children {
		t.Children = append(t.Children, NewRow(c))
	}
	var why string
	if t.Parent, why, err = rowOf(ctx, r, e.Link.Parent); err != nil {
		return err
	}
	if t.Lost == "" {
		t.Lost = why
	}
	return t.takes(ctx, r, e)
}

// rowOf returns an exchange, or why it cannot be shown.
func rowOf(ctx context.Context, r transcript.Reader, id string) (row *Row, why string, err error) {
	if id == "" {
		return nil, "", nil
	}
	e, err := r.Exchange(ctx, id)
	if why := lost(err); why != "" {
		return nil, why, nil
	}
	if err != nil {
		return nil, "", err
	}
	found := NewRow(e)
	return &found, "", nil
}

type builder struct {
	*joined
	ctx    context.Context
	reader transcript.Reader
	shown  map[transcript.Place]*transcript.Item
	read   map[string]bool // exchanges whose input is in shown
	refs   map[string]string
}

func (b *builder) entries(t *Transcript) error {
	for _, i := range b.readingOrder() {
		p := &b.items[i]
		if p.Kind == transcript.ToolDefinition {
			t.Tools = append(t.Tools, p.Name)
			continue
		}
		if p.Kind == transcript.ToolResult && b.besideCall(i) {
			continue
		}
		entry := Entry{Item: p.Item, Place: p.place, Output: i >= b.output, New: p.new, Batch: b.batch(i)}
		var err error
		if entry.Source, err = b.ref(p.place.Exchange); err != nil {
			return err
		}
		if err := b.attach(&entry, i); err != nil {
			return err
		}
		t.Entries = append(t.Entries, entry)
	}
	return nil
}

// readingOrder moves items outside the conversation before it: some clients write
// system prompts and tools after the messages.
func (b *builder) readingOrder() []int {
	var before, after []int
	for i := range b.items {
		top := !dialect.InHistory(b.items[i].At)
		if i < b.output && top && b.items[i].Kind == transcript.System {
			before = append(before, i)
		} else {
			after = append(after, i)
		}
	}
	return append(before, after...)
}

// besideCall reports whether a result is shown with its call.
func (b *builder) besideCall(i int) bool {
	n, ok := b.ofResult[i]
	return ok && b.pairs[n].State == transcript.Paired
}

func (b *builder) attach(entry *Entry, i int) error {
	n, ok := b.ofCall[i]
	if !ok {
		if n, ok = b.ofResult[i]; !ok {
			return nil
		}
	}
	pair := b.pairs[n]
	entry.Pair = &pair
	if entry.Item.Kind != transcript.ToolCall {
		return nil
	}
	var err error
	if pair.Call != nil {
		if entry.Source, err = b.ref(pair.Call.Exchange); err != nil {
			return err
		}
	}
	if pair.Result == nil {
		return nil
	}
	if entry.Result, err = b.item(*pair.Result); err != nil {
		return err
	}
	if entry.ResultSource, err = b.ref(pair.Result.Exchange); err != nil {
		return err
	}
	entry.ResultNew = b.fresh[n]
	for _, place := range b.more[n] {
		other, err := b.item(place)
		if err != nil {
			return err
		}
		if sameItem(other, entry.Result) {
			continue
		}
		ref, err := b.ref(place.Exchange)
		if err != nil {
			return err
		}
		entry.AlsoIn = append(entry.AlsoIn, ref)
	}
	return nil
}

// item finds the item at a place, in this history or in the request of another
// exchange. It returns nil if it is not there.
func (b *builder) item(place transcript.Place) (*transcript.Item, error) {
	if it, ok := b.shown[place]; ok || b.read[place.Exchange] {
		return it, nil
	}
	if b.read == nil {
		b.read = map[string]bool{}
	}
	b.read[place.Exchange] = true
	e, err := b.reader.Exchange(b.ctx, place.Exchange)
	var turn *transcript.Turn
	if err == nil {
		turn, err = history.Decode(b.ctx, b.reader, e)
	}
	if lost(err) != "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range turn.Input {
		b.shown[transcript.Place{Exchange: e.ID, Body: "request", At: turn.Input[i].At}] = &turn.Input[i]
	}
	return b.shown[place], nil
}

func (b *builder) ref(id string) (string, error) {
	if ref, ok := b.refs[id]; ok {
		return ref, nil
	}
	e, err := b.reader.Exchange(b.ctx, id)
	why := lost(err)
	switch {
	case why != "":
		b.refs[id] = why
	case err != nil:
		return "", err
	default:
		b.refs[id] = Ref(e.N)
	}
	return b.refs[id], nil
}

// batch counts the calls around i that one answer made together.
func (b *builder) batch(i int) int {
	isCall := func(k int) bool {
		return k >= 0 && k < len(b.items) && b.items[k].Kind == transcript.ToolCall && !b.items[k].ServerSide
	}
	if !isCall(i) {
		return 0
	}
	n := 1
	for k := i - 1; isCall(k); k-- {
		n++
	}
	for k := i + 1; isCall(k); k++ {
		n++
	}
	return n
}
