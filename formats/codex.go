package formats

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// Codex logs a session as lines of items of the Responses API, with a line of token
// counts after each answer. Its base instructions are logged, its tools are not. The
// API accepts calls without them, so the rebuilt requests can be sent. The file of a
// forked session, such as a sub-agent's, may begin with the turns of the other
// session, token counts included. A turn belongs to the other session if its id is
// older than this session. Its answers are history here, not steps.
type codexRecord struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

func fitsCodex(head []byte) bool {
	first := firstLine(head)
	return begins(head, '{') && holds(first, `"payload"`, `"type"`) && holds(first, `"session_meta"`) || holds(head, `"response_item"`, `"payload"`)
}

func readCodex(s *Source, emit emitter) error {
	c := &codex{rebuilding: s.rebuild(transcript.Responses, "codex\x00"+s.Name, emit)}
	if err := s.lines(c.line); err != nil {
		return err
	}
	return c.flush()
}

type codex struct {
	*rebuilding
	model        string
	instructions string
	output       []json.RawMessage // of the answer that is still being read
	input        []json.RawMessage // that came after it
	came         clock             // of that input
	usage        any
	ended        time.Time
	inherits     bool // the turn is one of the session that this one was forked from
}

func (c *codex) line(text []byte) error {
	var r codexRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return bad("read record: %w", err)
	}
	at := moment(r.Timestamp)
	switch r.Type {
	case "session_meta":
		return c.meta(r.Payload)
	case "turn_context":
		var t struct {
			Model string
			ID    string `json:"turn_id"`
		}
		if json.Unmarshal(r.Payload, &t) == nil && t.Model != "" {
			c.model = t.Model
		}
		return c.turn(t.ID)
	case "compacted":
		return c.compacted(r.Payload, at)
	case "event_msg":
		return c.event(r.Payload)
	case "response_item":
		return c.item(r.Payload, at)
	}
	return nil
}

func (c *codex) meta(raw json.RawMessage) error {
	var m struct {
		ID               string          `json:"id"`
		Source           json.RawMessage `json:"source"` // a word, or what started it
		Instructions     string          `json:"instructions"`
		BaseInstructions struct {
			Text string `json:"text"`
		} `json:"base_instructions"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return bad("read session: %w", err)
	}
	if known := c.header["Thread-Id"]; known != nil && m.ID != known[0] {
		return nil // of the session that this one was forked from
	}
	if c.instructions = firstOf(m.BaseInstructions.Text, m.Instructions); c.instructions != "" {
		c.grade = transcript.Rebuilt
	}
	if m.ID != "" {
		c.key = "codex\x00" + m.ID
		c.header["Session-Id"], c.header["Thread-Id"] = []string{m.ID}, []string{m.ID}
	}
	if parent := startedBy(m.Source); parent != "" {
		c.header["Session-Id"], c.header["X-Codex-Parent-Thread-Id"] = []string{parent}, []string{parent}
	}
	return nil
}

// startedBy returns the session that started a session as its sub-agent, "" if none
// did.
func startedBy(source json.RawMessage) string {
	var s struct {
		SubAgent struct {
			Spawned struct {
				Parent string `json:"parent_thread_id"`
			} `json:"thread_spawn"`
		} `json:"subagent"`
	}
	if json.Unmarshal(source, &s) != nil {
		return "" // a word, or something else that started it
	}
	return s.SubAgent.Spawned.Parent
}

// compacted replaces the history by a summary, or by what the log has in its place.
func (c *codex) compacted(raw json.RawMessage, at time.Time) error {
	if err := c.flush(); err != nil {
		return err
	}
	var p struct {
		Message string            `json:"message"`
		History []json.RawMessage `json:"replacement_history"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return bad("read compaction: %w", err)
	}
	c.forget()
	c.at(at)
	for _, item := range p.History {
		if err := c.said(item); err != nil {
			return err
		}
	}
	if len(p.History) > 0 || p.Message == "" {
		return nil
	}
	element, err := line(responsesItem{Type: "message", Role: "user", Content: []responsesPart{{Type: "input_text", Text: p.Message}}})
	if err != nil {
		return bad("read compaction: %w", err)
	}
	return c.said(element)
}

func (c *codex) event(raw json.RawMessage) error {
	var e struct {
		Type string `json:"type"`
		Turn string `json:"turn_id"`
		Info *struct {
			Last struct {
				Input     int64 `json:"input_tokens"`
				Cached    int64 `json:"cached_input_tokens"`
				Output    int64 `json:"output_tokens"`
				Reasoning int64 `json:"reasoning_output_tokens"`
				Total     int64 `json:"total_tokens"`
			} `json:"last_token_usage"`
		} `json:"info"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return nil
	}
	if e.Type == "task_started" {
		return c.turn(e.Turn)
	}
	if e.Type != "token_count" || e.Info == nil || c.output == nil {
		return nil
	}
	u := &e.Info.Last
	c.usage = object{"input_tokens": u.Input, "input_tokens_details": object{"cached_tokens": u.Cached}, "output_tokens": u.Output,
		"output_tokens_details": object{"reasoning_tokens": u.Reasoning}, "total_tokens": u.Total}
	return c.flush()
}

// turn begins a turn.
func (c *codex) turn(id string) error {
	session := c.header["Thread-Id"]
	if inherits := len(session) > 0 && madeBefore(id, session[0]); inherits != c.inherits {
		c.inherits = inherits
		return c.flush()
	}
	return nil
}

// madeBefore reports whether one UUID of version 7 is older than another. Such ids
// begin with their time.
func madeBefore(a, b string) bool {
	const ofTime = 13 // digits, one dash included
	return isUUID7(a) && isUUID7(b) && a[:ofTime] < b[:ofTime]
}

func isUUID7(s string) bool { return looksLikeUUID(s) && s[14] == '7' }

func (c *codex) item(raw json.RawMessage, at time.Time) error {
	var i struct{ Type, Role string }
	if err := json.Unmarshal(raw, &i); err != nil {
		return bad("read item: %w", err)
	}
	if c.inherits {
		return c.add(raw, at)
	}
	switch i.Type {
	case "reasoning", "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call", "image_generation_call":
	case "message":
		if i.Role != "assistant" {
			return c.add(raw, at)
		}
	default:
		return c.add(raw, at)
	}
	if len(c.input) > 0 {
		if err := c.flush(); err != nil {
			return err
		}
	}
	c.output, c.ended = append(c.output, raw), at
	return nil
}

// add adds an item of the input. While an answer waits for its token count, the item
// waits too.
func (c *codex) add(raw json.RawMessage, at time.Time) error {
	if c.output != nil {
		c.input = append(c.input, raw)
		c.came.at(at)
		return nil
	}
	c.at(at)
	return c.said(raw)
}

func (c *codex) flush() error {
	if c.output == nil {
		return nil
	}
	response := object{"id": "resp_" + idOf(c.key, string(c.sum[:]))[:8], "object": "response", "status": "completed", "model": c.model, "output": c.output}
	if c.usage != nil {
		response["usage"] = c.usage
	}
	var head []byte
	if c.instructions != "" {
		text, err := line(c.instructions)
		if err != nil {
			return bad("write instructions: %w", err)
		}
		head = append(append([]byte(`"instructions":`), text...), ',')
	}
	err := c.answered(answerTo{model: c.model, head: head, response: response, ended: c.ended})
	if len(c.input) > 0 {
		c.at(c.came.now)
	}
	for _, raw := range slices.Concat(c.output, c.input) {
		if err == nil {
			err = c.said(raw)
		}
	}
	c.output, c.input, c.usage, c.came = nil, nil, nil, clock{}
	return err
}
