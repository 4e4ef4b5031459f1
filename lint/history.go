package lint

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// history is what is known of the items read so far.
type history struct {
	api     *dialect.API
	missing bool // the provider holds a part of it that was not recorded

	round   *round
	rounds  int
	open    []*call            // without a result yet
	byID    map[string][]*call // likewise
	done    map[string]*call   // the latest call with that id that has its result
	seen    map[string]*idSeen
	orphans map[string]*Finding // results of this request that no call claimed
	answers int                 // answers so far
	inTurn  bool                // the item before is part of an answer
	thought *thought            // the last reasoning item, until another item follows

	seed  maphash.Seed
	calls int
	same  map[uint64]*repeated
	tools map[string]*toolRecord
}

// call is a tool call that the client must run.
type call struct {
	id, name, arguments string
	at                  spot
	number              int // of all calls
	round               *round
	index               int // in its round
	answered            bool
	missing             *Finding
}

// round is the calls of one answer.
type round struct {
	number   int
	message  string // the message that holds them, if the API has messages
	calls    []*call
	ids      map[string]bool
	closed   bool
	user     bool   // an item that is not the model's followed
	latest   int    // index of the call with the latest result, -1 for none
	unsorted bool   // results_out_of_order was reported
	results  string // the message that held the last result
	split    bool   // parallel_results_split was reported
	text     bool   // text of the model followed a call
}

// idSeen counts the calls that have an id.
type idSeen struct {
	count   int
	finding *Finding
}

func newHistory(w *walker) *history {
	return &history{
		api: w.api, missing: w.held(), seed: maphash.MakeSeed(),
		byID: map[string][]*call{}, done: map[string]*call{}, seen: map[string]*idSeen{},
		same: map[uint64]*repeated{}, tools: map[string]*toolRecord{},
	}
}

// held reports whether the provider holds a part of the history.
func (w *walker) held() bool {
	return w.turn.PreviousID != "" || slices.ContainsFunc(w.api.Rules.Held, func(name string) bool { return rawjson.Present(w.turn.Parameters[name]) })
}

// read reads the next item.
func (h *history) read(w *walker, it *transcript.Item, at spot) {
	switch {
	case it.ServerSide:
		h.follow(w, it)
	case it.Kind == transcript.ToolCall:
		h.follow(w, it)
		h.call(w, it, at)
		w.arguments(it, at)
	case it.Kind == transcript.ToolResult:
		h.follow(w, it)
		h.result(w, it, at)
	case it.Kind == transcript.Reasoning:
		h.said(w, it, at)
		h.reasoning(w, it, at)
	default:
		h.follow(w, it)
		h.said(w, it, at)
		w.message(it, at)
	}
}

// messageOf returns the message that holds an item: 3 for /messages/3/content/1, "" if
// items lie in no messages. An answer is one message.
func messageOf(a *dialect.API, at spot) string {
	if at.body == "response" {
		return at.exchange
	}
	if a.Layout == dialect.Items {
		return ""
	}
	member, rest, _ := strings.Cut(strings.TrimPrefix(at.at, "/"), "/")
	if member != a.History() {
		return ""
	}
	n, _, _ := strings.Cut(rest, "/")
	return n
}

// answer counts a new answer, unless the item before is part of the same one.
func (h *history) answer() {
	if !h.inTurn {
		h.answers++
	}
	h.inTurn = true
}

func (h *history) call(w *walker, it *transcript.Item, at spot) {
	r := h.roundOf(w, at)
	h.answer()
	h.calls++
	c := &call{id: it.CallID, name: it.Name, arguments: it.ArgumentsRaw, at: at, number: h.calls, round: r, index: len(r.calls)}
	if r.text && h.api.Layout == dialect.Items && at.body == "request" {
		w.find("parallel_batch_split", Warning, at, c.id, "the model's text stands between this call and the others of its batch: send the calls next to each other, some providers refuse this")
		r.text = false
	}
	r.calls = append(r.calls, c)
	h.open = append(h.open, c)
	h.byID[c.id] = append(h.byID[c.id], c)
	h.identify(w, c)
	if f := h.orphans[c.id]; f != nil && c.id != "" {
		f.Code, f.Message = "result_before_call", fmt.Sprintf("the call that this answers comes later, at %s: put the result after it", at.at)
		delete(h.orphans, c.id)
	}
}

// roundOf returns the round of a call at a place. It begins a new one if necessary.
func (h *history) roundOf(w *walker, at spot) *round {
	r, message := h.round, messageOf(h.api, at)
	switch {
	case r == nil || r.closed:
	case h.api.Layout == dialect.Members && r.message == message, h.api.Layout != dialect.Members && !r.user:
		return r
	default:
		h.close(w)
	}
	h.rounds++
	h.round = &round{number: h.rounds, message: message, latest: -1, ids: map[string]bool{}}
	return h.round
}

// said reads an item that is neither call nor result.
func (h *history) said(w *walker, it *transcript.Item, at spot) {
	r := h.round
	model := it.Role == "assistant" || it.Kind == transcript.Reasoning
	if model {
		if r != nil && !r.closed {
			switch h.api.Layout {
			case dialect.Members:
				if r.message != messageOf(h.api, at) {
					h.close(w)
				}
			case dialect.Blocks:
				if r.user {
					h.close(w)
				}
			default:
				r.text = r.text || !r.user && it.Kind == transcript.MessageItem
			}
		}
		h.answer()
		return
	}
	h.inTurn = false
	if r == nil || r.closed {
		return
	}
	r.user = true
	if h.api.Layout == dialect.Members {
		h.close(w)
	}
}

// close ends a round: a call that has no result by now is refused, unless the API
// accepts results anywhere.
func (h *history) close(w *walker) {
	r := h.round
	if r == nil || r.closed {
		return
	}
	r.closed = true
	if h.api.Rules.ResultsAnywhere {
		return
	}
	for _, c := range r.calls {
		h.unanswered(w, c)
	}
}

func (h *history) unanswered(w *walker, c *call) {
	if c.answered || c.missing != nil {
		return
	}
	others := ""
	if n := len(c.round.calls); n > 1 {
		answered := 0
		for _, o := range c.round.calls {
			if o.answered {
				answered++
			}
		}
		others = fmt.Sprintf(" (%d of %d calls of its batch have one)", answered, n)
	}
	c.missing = w.find("missing_tool_result", Error, c.at, c.id, "%s has no result after it%s: send one for each call, an error text if the tool did not run", callName(c), others)
}

func callName(c *call) string {
	if c.name == "" {
		return "this call"
	}
	return "the call of " + dialect.Quoted(c.name)
}

// endOfInput is called where the model begins to answer: every call must have its
// result.
func (h *history) endOfInput(w *walker) {
	still := h.open[:0]
	for _, c := range h.open {
		if !c.answered {
			still = append(still, c)
		}
	}
	h.open = still
	h.orphans = nil
	h.noFollower(w, nil)
	if len(still) == 0 {
		return
	}
	if h.api.Rules.ResultsAnywhere {
		for _, c := range still {
			h.unanswered(w, c)
		}
		return
	}
	h.close(w)
}

// identify judges the id of a new call.
func (h *history) identify(w *walker, c *call) {
	if c.id == "" {
		return
	}
	rules := &h.api.Rules
	if rules.BadID != nil {
		if why := rules.BadID(c.id); why != "" {
			w.find("invalid_tool_call_id", Error, c.at, c.id, "%s: give the call and its result an id that the API accepts", why)
		}
	}
	r := c.round
	if r.ids[c.id] {
		w.find("duplicate_tool_call_id", Error, c.at, c.id, "another call of this batch has the same id: give each its own, and its result too")
		return
	}
	r.ids[c.id] = true
	s := h.seen[c.id]
	if s == nil {
		h.seen[c.id] = &idSeen{count: 1}
		return
	}
	s.count++
	severity, advice := Warning, "look for results by id within their round only"
	if rules.UniqueIDs {
		severity, advice = Error, "tool_use ids must be unique: rename later ones together with their results"
	}
	if s.finding == nil {
		s.finding = w.find("reused_tool_call_id", severity, c.at, c.id, "")
	}
	s.finding.Message = fmt.Sprintf("%d calls have this id: %s", s.count, advice)
}
