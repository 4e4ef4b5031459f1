package main

import (
	"math/rand/v2"
	"strconv"
)

// prompter makes the requests of one connection.
type prompter interface {
	// next returns the body of the next request. It is valid until the next call.
	next() []byte
}

// newPrompter makes the requests of the connection with that number.
func newPrompter(s *scenario, t text, seed, connection uint64) prompter {
	w := &writer{text: t, random: rand.New(rand.NewPCG(seed, connection))}
	switch s.Prompts {
	case history:
		return newLastNew(w, s, 200_000)
	case distinct:
		return &allNew{w: w, stream: s.Events > 0}
	case agents:
		return &agent{w: w, scenario: s, system: newShared(t).message(nil, "system", 20_000)}
	}
	return newLastNew(w, s, 4_000)
}

// writer writes parts of requests.
type writer struct {
	text   text
	random *rand.Rand
}

// newShared writes what all connections have in common.
func newShared(t text) *writer { return &writer{text: t, random: rand.New(rand.NewPCG(3, 4))} }

func (w *writer) begin(b []byte, stream bool) []byte {
	b = append(b, `{"model":"stub-1","stream":`...)
	if stream {
		b = append(b, `true`...)
	} else {
		b = append(b, `false`...)
	}
	return append(b, `,"max_tokens":8192,"messages":[{"role":"system","content":"You are a coding agent."}`...)
}

// message appends a message with about size bytes of new text.
func (w *writer) message(b []byte, role string, size int) []byte {
	b = append(b, `,{"role":"`...)
	b = append(b, role...)
	b = append(b, `","content":"`...)
	return append(w.words(b, max(16, size-50)), `"}`...)
}

// result appends the result of a tool call with about size bytes of new text.
func (w *writer) result(b []byte, call mark, size int) []byte {
	b = append(b, `,{"role":"tool","tool_call_id":"call_`...)
	b = append(b, call.String()...)
	b = append(b, `","content":"`...)
	return append(w.words(b, size-50), `"}`...)
}

// words appends text that was not sent before, although the text it is cut from is
// finite.
func (w *writer) words(b []byte, size int) []byte {
	b = append(strconv.AppendUint(b, w.random.Uint64(), 16), ' ')
	return append(b, w.text.cut(w.random.Uint64(), size)...)
}

const ending = `],"temperature":0.2}`

// roles take turns in a history without tools.
var roles = [...]string{"user", "assistant"}

// lastNew has one history for all connections and a last message of its own.
type lastNew struct {
	w    *writer
	body []byte
	same int // bytes of it that do not change
}

const lastMessage = 600

func newLastNew(w *writer, s *scenario, size int) *lastNew {
	l := &lastNew{w: w}
	shared := newShared(w.text)
	b := shared.begin(nil, s.Events > 0)
	for n := 0; len(b) < size-lastMessage; n++ {
		b = shared.message(b, roles[n%2], min(2500, size-lastMessage-len(b)))
	}
	l.body, l.same = b, len(b)
	return l
}

func (l *lastNew) next() []byte {
	l.body = append(l.w.message(l.body[:l.same], "user", lastMessage), ending...)
	return l.body
}

// allNew shares nothing with any other request.
type allNew struct {
	w      *writer
	stream bool
	body   []byte
}

func (a *allNew) next() []byte {
	b := a.w.begin(a.body[:0], a.stream)
	for n := 0; len(b) < 200_000; n++ {
		b = a.w.message(b, roles[n%2], 2500)
	}
	a.body = append(b, ending...)
	return a.body
}

// agent sends its whole history at each turn: the model's answer and the result of
// the tool that it called, together 2.5 KB.
type agent struct {
	w        *writer
	scenario *scenario
	system   []byte // that all agents share
	turns    int
	history  []byte // without its ending
	body     []byte
}

const agentTurns = 100

func (a *agent) next() []byte {
	switch {
	case a.turns == agentTurns, a.history == nil:
		a.turns = 0
		a.history = a.w.begin(a.history[:0], false)
		a.history = append(a.history, a.system...)
		a.history = a.w.message(a.history, "user", 600)
	default:
		answered := markOf(a.body)
		a.history = append(a.history, ',')
		a.history = appendMessage(a.history, a.w.text, answered, a.scenario.Answer)
		a.history = a.w.result(a.history, answered, 2500-a.scenario.Answer)
	}
	a.turns++
	a.body = append(append(a.body[:0], a.history...), ending...)
	return a.body
}
