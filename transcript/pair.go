package transcript

// State says what is known of a pair.
type State string

// The states of a pair.
const (
	Paired       State = "paired"
	Unanswered   State = "unanswered"
	OrphanResult State = "orphan_result"
	Duplicate    State = "duplicate" // a second result for a call that has one
)

// Place points at one item: the exchange, which body of it ("request" or
// "response") and the JSON pointer there.
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
	By        string   `json:"by,omitempty"`         // "id", "position" or "content"
	LatencyMS *float64 `json:"latency_ms,omitempty"` // from the end of the call's answer to the request that brought the result
	IsError   bool     `json:"is_error"`
}

// Match joins items by their index: Call or Result is -1 where that half is
// missing.
type Match struct {
	Call, Result int
	State        State
	By           string
}

// PairItems joins the tool calls and results of one history, in order. Call
// ids restart and repeat, so a result belongs to the nearest round before it
// that holds an open call of its id, and there to the first such call; a round
// is the calls of one answer. A result without an id is joined by position: to
// the first open call of the latest round, of its own name if it has one.
// Calls that the provider ran itself are joined too but never left unanswered.
// Matches come in the order of their calls, results without a call after them.
func PairItems(items []Item) []Match {
	p := pairing{items: items, match: map[int]int{}}
	for i := range items {
		p.take(i)
	}
	return p.matches()
}

// MatchCalls finds, for the calls of one history, the rows of the recorded
// answers that made them: item index → row index. Both are in the order of the
// conversation. Keys repeat (an id that restarts, the same arguments again), so
// both are gone through from the end, where a history and its recording agree.
func MatchCalls(items []Item, rows []CallRow) map[int]int {
	found := map[int]int{}
	left := len(rows)
	for i := len(items) - 1; i >= 0 && left > 0; i-- {
		if items[i].Kind != ToolCall || items[i].ServerSide {
			continue
		}
		key := KeyOf(&items[i])
		for r := left - 1; r >= 0; r-- {
			if rows[r].Key == key {
				found[i], left = r, r
				break
			}
		}
	}
	return found
}

type openCall struct{ index, round int }

type pairing struct {
	items  []Item
	calls  []openCall
	match  map[int]int // call index → position in out
	out    []Match
	round  int
	inCall bool // the item before was a call or reasoning of the same answer
}

func (p *pairing) take(i int) {
	switch it := &p.items[i]; it.Kind {
	case ToolCall:
		if !p.inCall {
			p.round++
			p.inCall = true
		}
		p.match[i] = len(p.out)
		p.out = append(p.out, Match{Call: i, Result: -1, State: Unanswered})
		p.calls = append(p.calls, openCall{i, p.round})
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

func (p *pairing) result(i int) {
	id := p.items[i].CallID
	by := "id"
	found, answered := p.byID(id)
	if id == "" {
		by = "position"
		found, answered = p.byPosition(i), false
	}
	if found < 0 {
		p.out = append(p.out, Match{Call: -1, Result: i, State: OrphanResult})
		return
	}
	if answered {
		p.out = append(p.out, Match{Call: found, Result: i, State: Duplicate, By: by})
		return
	}
	m := &p.out[p.match[found]]
	m.Result, m.State, m.By = i, Paired, by
}

// byID finds the call for id: open ones first, of the latest round the first.
func (p *pairing) byID(id string) (call int, answered bool) {
	best, bestRound, done := -1, -1, -1
	for _, c := range p.calls {
		if p.items[c.index].CallID != id {
			continue
		}
		if p.out[p.match[c.index]].State == Paired {
			done = c.index
		} else if c.round > bestRound {
			best, bestRound = c.index, c.round
		}
	}
	if best < 0 && done >= 0 {
		return done, true
	}
	return best, false
}

func (p *pairing) byPosition(i int) int {
	name := p.items[i].Name
	best, bestRound := -1, -1
	for _, c := range p.calls {
		it := &p.items[c.index]
		if it.ServerSide || p.out[p.match[c.index]].State == Paired || (name != "" && it.Name != name) {
			continue
		}
		if c.round > bestRound {
			best, bestRound = c.index, c.round
		}
	}
	return best
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
