package transcript

import "slices"

// State says what is known of a pair.
type State string

// The states of a pair.
const (
	Paired       State = "paired"
	Unanswered   State = "unanswered"
	OrphanResult State = "orphan_result"
	Duplicate    State = "duplicate" // a second result for a call that has one
)

// Place points at one item: the exchange, which of its bodies ("request" or
// "response"), and the JSON pointer in it.
type Place struct {
	Exchange string `json:"exchange"`
	Body     string `json:"body"`
	At       string `json:"at"`
}

// Pair is a tool call and its result, or the half that is there.
type Pair struct {
	CallID    string   `json:"call_id"`
	Name      string   `json:"name"`
	State     State    `json:"state"`
	Call      *Place   `json:"call"`
	Result    *Place   `json:"result"`
	By        string   `json:"by,omitempty"` // "id", "position" or "content"
	LatencyMS *float64 `json:"latency_ms"`   // from the end of the call's answer to the request with the result; nil if unknown
	IsError   bool     `json:"is_error"`
}

// Match joins items by their index: Call or Result is -1 where that half is
// missing.
type Match struct {
	Call, Result int
	State        State
	By           string
}

// PairItems joins the tool calls and results of one history, in order. Call ids
// restart and repeat, so a result belongs to the nearest round before it that has
// an open call of its id, and there to the first such call. A round is the calls of
// one answer. A result without an id is joined by position: to the first open call
// of the latest round, of its own name if it has one. Calls that the provider ran
// are joined too but never left unanswered. Matches come in the order of their
// calls, then results without a call.
func PairItems(items []Item) []Match {
	calls := 0
	for i := range items {
		if items[i].Kind == ToolCall {
			calls++
		}
	}
	p := pairing{items: items, made: make([]madeCall, len(items)), byID: make(map[string]openCalls, calls)}
	p.out, p.calls, p.rounds = slices.Grow(p.out, calls), slices.Grow(p.calls, calls), slices.Grow(p.rounds, calls)
	for i := range items {
		p.add(i)
	}
	return p.matches()
}

// MatchCalls finds, for the calls of one history, the rows of the recorded answers
// that made them: item index → row index. Both are in the order of the
// conversation. Keys repeat (an id that restarts, the same arguments again), so it
// matches from the end, where a history and its recording agree.
func MatchCalls(items []Item, rows []CallRow) map[int]int {
	byKey := map[Key][]int{}
	for r := range rows {
		byKey[rows[r].Key] = append(byKey[rows[r].Key], r)
	}
	found := map[int]int{}
	left := len(rows)
	for i := len(items) - 1; i >= 0 && left > 0; i-- {
		if items[i].Kind != ToolCall || items[i].ServerSide {
			continue
		}
		key := KeyOf(&items[i])
		same := byKey[key]
		for len(same) > 0 && same[len(same)-1] >= left {
			same = same[:len(same)-1]
		}
		if n := len(same); n > 0 {
			found[i], left = same[n-1], same[n-1]
			same = same[:n-1]
		}
		byKey[key] = same
	}
	return found
}

type pairing struct {
	items  []Item
	made   []madeCall // by item index
	out    []Match
	round  int
	inCall bool // the item before was a call or reasoning of the same answer
	calls  []openCall
	rounds []openRound
	byID   map[string]openCalls
	byName map[string]openCalls // calls that a client runs, all of them under ""; nil until it is needed
}

// madeCall is where a call is in out, and its round.
type madeCall struct{ out, round int }

// openCalls are calls with the same id or name. Answered ones are dropped when they
// are met, so that each is visited once.
type openCalls struct {
	top      int // the latest round with an open call, -1 for none
	answered int // the last answered call, -1 for none
}

// openRound is a queue of such calls in one round, above those of earlier rounds.
type openRound struct{ round, first, last, below int }

type openCall struct{ index, next int }

func (p *pairing) add(i int) {
	switch it := &p.items[i]; it.Kind {
	case ToolCall:
		if !p.inCall {
			p.round++
			p.inCall = true
		}
		p.made[i] = madeCall{len(p.out), p.round}
		p.out = append(p.out, Match{Call: i, Result: -1, State: Unanswered})
		p.open(p.byID, it.CallID, i)
		if p.byName != nil {
			p.openByName(i)
		}
	case ToolResult:
		p.inCall = p.inCall && it.ServerSide
		p.result(i)
	case Reasoning, System, ToolDefinition:
	default:
		if it.Role != "assistant" {
			p.inCall = false
		}
	}
}

func (p *pairing) open(by map[string]openCalls, name string, call int) {
	round := p.made[call].round
	o, ok := by[name]
	if !ok {
		o = openCalls{-1, -1}
	}
	n := len(p.calls)
	p.calls = append(p.calls, openCall{call, -1})
	if o.top >= 0 && p.rounds[o.top].round == round {
		top := &p.rounds[o.top]
		p.calls[top.last].next, top.last = n, n
	} else {
		p.rounds = append(p.rounds, openRound{round, n, n, o.top})
		o.top = len(p.rounds) - 1
	}
	by[name] = o
}

func (p *pairing) openByName(call int) {
	it := &p.items[call]
	if it.ServerSide {
		return
	}
	p.open(p.byName, "", call)
	if it.Name != "" {
		p.open(p.byName, it.Name, call)
	}
}

func (p *pairing) result(i int) {
	it := &p.items[i]
	var found int
	answered, by := -1, "id"
	if it.CallID != "" {
		found, answered = p.first(p.byID, it.CallID)
	} else {
		p.needNames()
		by = "position"
		found, _ = p.first(p.byName, it.Name)
	}
	switch {
	case found >= 0:
		m := &p.out[p.made[found].out]
		m.Result, m.State, m.By = i, Paired, by
		same := p.byID[p.items[found].CallID]
		same.answered = max(same.answered, found)
		p.byID[p.items[found].CallID] = same
	case answered >= 0:
		p.out = append(p.out, Match{Call: answered, Result: i, State: Duplicate, By: by})
	default:
		p.out = append(p.out, Match{Call: -1, Result: i, State: OrphanResult})
	}
}

// needNames indexes the calls so far by name: few histories have results without an
// id.
func (p *pairing) needNames() {
	if p.byName != nil {
		return
	}
	p.byName = map[string]openCalls{}
	for _, m := range p.out {
		if m.State == Unanswered {
			p.openByName(m.Call)
		}
	}
}

// first returns the first open call of the latest round that has one, and the last
// answered call; -1 if there is none.
func (p *pairing) first(by map[string]openCalls, name string) (open, answered int) {
	o, ok := by[name]
	if !ok {
		return -1, -1
	}
	for open = -1; o.top >= 0 && open < 0; {
		r := &p.rounds[o.top]
		for r.first >= 0 && p.out[p.made[p.calls[r.first].index].out].State == Paired {
			r.first = p.calls[r.first].next
		}
		if r.first >= 0 {
			open = p.calls[r.first].index
		} else {
			o.top = r.below
		}
	}
	by[name] = o
	return open, o.answered
}

func (p *pairing) matches() []Match {
	kept := p.out[:0]
	for _, m := range p.out {
		if m.State == Unanswered && p.items[m.Call].ServerSide {
			continue
		}
		kept = append(kept, m)
	}
	return kept
}
