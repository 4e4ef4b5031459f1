// Package scripted is a model that follows a script instead of thinking: it
// speaks Chat Completions, Responses and Messages, streamed or not, well enough
// for real clients. The demo and the tests use it as their provider, so that
// neither needs a key or a network.
package scripted

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
)

// Call is a tool call that the model makes.
type Call struct {
	Name      string
	Arguments string // JSON
}

// Step is what the model does in one round: it calls tools, or it answers.
type Step struct {
	Thinking string
	Calls    []Call
	// Answer returns the final text, given the tool results of the conversation in
	// order.
	Answer func(results []string) string
}

// Model is an http.Handler that plays a script: the first step answers a
// conversation without tool rounds, the next one that with one round, and so
// on. The last step repeats.
type Model struct {
	Script []Step
	// Choose, if set, returns the step for a request; nil leaves it to the script.
	Choose func(request []byte) *Step
	ids    atomic.Int64
}

// conversation is what the model needs of a request.
type conversation struct {
	model   string
	stream  bool
	rounds  int // answers with tool calls in the history
	results []string
}

// reply is what the model says.
type reply struct {
	id       string
	model    string
	thinking string
	text     string
	calls    []Call
	callIDs  []string
}

func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 16<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var api api
	switch r.URL.Path {
	case "/v1/messages":
		api = messages{}
	case "/v1/chat/completions":
		api = chat{}
	case "/v1/responses":
		api = responses{}
	default:
		http.Error(w, `{"error":{"type":"not_found_error","message":"no such path"}}`, http.StatusNotFound)
		return
	}
	c, err := api.read(body)
	if err != nil {
		http.Error(w, fmt.Sprintf(`{"error":{"type":"invalid_request_error","message":%q}}`, err), http.StatusBadRequest)
		return
	}
	m.answer(w, api, c, m.step(body, c))
}

func (m *Model) step(body []byte, c conversation) *Step {
	if m.Choose != nil {
		if step := m.Choose(body); step != nil {
			return step
		}
	}
	return &m.Script[min(c.rounds, len(m.Script)-1)]
}

// api is one provider API as the model speaks it.
type api interface {
	read(body []byte) (conversation, error)
	whole(r reply) any
	events(r reply) []event
}

type event struct {
	name string // "" for events without a name
	data any    // a string is sent as it is
}

func (m *Model) answer(w http.ResponseWriter, api api, c conversation, step *Step) {
	r := reply{id: m.id(), model: c.model, thinking: step.Thinking, calls: step.Calls}
	for range step.Calls {
		r.callIDs = append(r.callIDs, "call_"+m.id())
	}
	if step.Answer != nil {
		r.text = step.Answer(c.results)
	}
	if !c.stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(api.whole(r))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range api.events(r) {
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		data, ok := e.data.(string)
		if !ok {
			encoded, _ := json.Marshal(e.data)
			data = string(encoded)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
		http.NewResponseController(w).Flush()
	}
}

func (m *Model) id() string { return fmt.Sprintf("%06d", m.ids.Add(1)) }

// object is a JSON object.
type object = map[string]any

// halves cuts a text in two, for streams.
func halves(s string) []string {
	r := []rune(s)
	return []string{string(r[:len(r)/2]), string(r[len(r)/2:])}
}

// textOf returns the text of content: a string, or a list of parts with texts.
func textOf(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(content, &parts)
	for _, p := range parts {
		s += p.Text
	}
	return s
}
