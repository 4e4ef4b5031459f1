package formats

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// A trajectory of SWE-agent holds its steps and the messages that were sent. In its
// text modes an action is part of the model's text, and its observation a user
// message. Here they are shown as a tool call and its result, for viewing only.
type sweMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Thought   string          `json:"thought"`
	Action    *string         `json:"action"`
	IsDemo    bool            `json:"is_demo"`
	ToolCalls json.RawMessage `json:"tool_calls"`
	CallIDs   []string        `json:"tool_call_ids"`
}

type sweStep struct {
	Action      string `json:"action"`
	Observation string `json:"observation"`
	Response    string `json:"response"`
	Thought     string `json:"thought"`
}

func fitsSWEAgent(head []byte) bool {
	return begins(head, '{') && (holds(head, `"trajectory"`) && (holds(head, `"observation"`) || holds(head, `"history"`)))
}

func readSWEAgent(s *Source, emit emitter) error {
	w := &sweAgent{chatLog: s.chatLog("swe-agent\x00"+s.Name, emit)}
	w.label = s.Name
	err := s.elements([]string{"trajectory", "history"}, func(string, json.RawMessage) {}, func(name string, raw json.RawMessage) error {
		if name == "history" {
			return w.history(raw)
		}
		var st sweStep
		if err := json.Unmarshal(raw, &st); err != nil {
			return bad("read step: %w", err)
		}
		w.steps = append(w.steps, st)
		return nil
	})
	if err != nil {
		return err
	}
	// A last step that failed may be in no message.
	for w.next < len(w.steps) {
		if err := w.step(&w.steps[w.next]); err != nil {
			return err
		}
	}
	return nil
}

// sweAgent holds the steps. They come before the messages and are as long: a
// trajectory is what one task did.
type sweAgent struct {
	*chatLog
	steps []sweStep
	next  int    // index of the next step
	open  string // id of the call that has no observation yet
}

func (w *sweAgent) history(raw json.RawMessage) error {
	var m sweMessage
	if err := json.Unmarshal(raw, &m); err != nil || m.Role == "" {
		return bad("no message: it has no role")
	}
	content := textOfContent(m.Content)
	switch {
	case m.IsDemo || m.Role == "system":
		return w.put(object{"role": m.Role, "content": content}, true)
	case m.Role == "assistant" && hasCalls(m.ToolCalls):
		w.grade = transcript.Rebuilt
		w.next++
		return w.put(object{"role": "assistant", "content": content, "tool_calls": m.ToolCalls}, false)
	case m.Role == "assistant" && m.Action != nil && strings.TrimSpace(*m.Action) != "":
		return w.call(firstOf(m.Thought, content), *m.Action)
	case m.Role == "assistant":
		w.next++
		return w.put(object{"role": "assistant", "content": content}, false)
	case m.Role == "tool":
		id := ""
		if len(m.CallIDs) > 0 {
			id = m.CallIDs[0]
		}
		return w.put(object{"role": "tool", "tool_call_id": id, "content": content}, false)
	case w.open != "":
		id := w.open
		w.open = ""
		return w.put(object{"role": "tool", "tool_call_id": id, "content": content}, false)
	}
	return w.put(object{"role": m.Role, "content": content}, false)
}

// call returns an action as a call.
func (w *sweAgent) call(thought, action string) error {
	w.next++
	w.open = fmt.Sprintf("action_%d", w.next)
	arguments, err := line(map[string]string{"action": action})
	if err != nil {
		return bad("read action: %w", err)
	}
	name := "action"
	if fields := strings.Fields(action); len(fields) > 0 && toolName.MatchString(fields[0]) {
		name = fields[0]
	}
	return w.put(object{"role": "assistant", "content": strings.TrimSpace(thought), "tool_calls": []chatCall{{w.open, "function", chatFunction{name, string(arguments)}}}}, false)
}

// step adds a step that no message holds.
func (w *sweAgent) step(s *sweStep) error {
	if strings.TrimSpace(s.Action) == "" {
		w.next++
		return w.put(object{"role": "assistant", "content": firstOf(s.Response, s.Thought)}, false)
	}
	if err := w.call(firstOf(s.Thought, s.Response), s.Action); err != nil {
		return err
	}
	id := w.open
	w.open = ""
	return w.put(object{"role": "tool", "tool_call_id": id, "content": s.Observation}, false)
}

func (w *sweAgent) put(m object, history bool) error {
	raw, err := line(m)
	if err != nil {
		return bad("read message: %w", err)
	}
	return w.message(raw, history)
}

func hasCalls(raw json.RawMessage) bool {
	var calls []json.RawMessage
	return json.Unmarshal(raw, &calls) == nil && len(calls) > 0
}

// textOfContent returns the text, or the texts of a list of parts.
func textOfContent(raw json.RawMessage) string {
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		return stringOf(raw)
	}
	var out strings.Builder
	for _, p := range parts {
		out.WriteString(readPart(p).text)
	}
	return out.String()
}
