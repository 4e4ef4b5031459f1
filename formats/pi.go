package formats

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// pi logs a session as lines in a form of its own, whatever API each answer used. The
// session is rebuilt in the Messages API, which has a place for all of it. System
// prompt and tools are not logged, so it is for viewing only.
type piRecord struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Timestamp string          `json:"timestamp"`
	Message   json.RawMessage `json:"message"`
	Summary   string          `json:"summary"`
}

type piMessage struct {
	Role       string          `json:"role"`
	Timestamp  int64           `json:"timestamp"` // of an answer: when it was requested, in ms
	Content    json.RawMessage `json:"content"`
	Provider   string          `json:"provider"`
	Model      string          `json:"model"`
	StopReason string          `json:"stopReason"`
	Error      string          `json:"errorMessage"`
	ToolCallID string          `json:"toolCallId"`
	IsError    bool            `json:"isError"`
	Usage      *struct {
		Input      int64 `json:"input"`
		Output     int64 `json:"output"`
		CacheRead  int64 `json:"cacheRead"`
		CacheWrite int64 `json:"cacheWrite"`
	} `json:"usage"`
}

type piPart struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"thinkingSignature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Data      string          `json:"data"`
	MimeType  string          `json:"mimeType"`
}

func fitsPi(head []byte) bool {
	first := firstLine(head)
	return begins(head, '{') && holds(first, `"session"`, `"cwd"`, `"id"`) && !holds(first, `"sessionId"`)
}

func readPi(s *Source, emit emitter) error {
	p := &pi{rebuilding: s.rebuild(transcript.Messages, "pi\x00"+s.Name, emit)}
	p.label = s.Name
	return s.lines(p.line)
}

type pi struct{ *rebuilding }

func (p *pi) line(text []byte) error {
	var r piRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return bad("read record: %w", err)
	}
	switch r.Type {
	case "session":
		p.key = "pi\x00" + r.ID
		if len(r.ID) >= 8 {
			p.label = "pi session " + r.ID
		}
		return nil
	case "compaction":
		p.forget()
		p.at(moment(r.Timestamp))
		return p.blocks("user", []any{block{Type: "text", Text: r.Summary}})
	case "message":
	default:
		return nil
	}
	var m piMessage
	if err := json.Unmarshal(r.Message, &m); err != nil {
		return bad("read message: %w", err)
	}
	return p.take(&m, moment(r.Timestamp))
}

func (p *pi) take(m *piMessage, at time.Time) error {
	blocks, err := piBlocks(m.Content)
	if err != nil {
		return err
	}
	switch m.Role {
	case "assistant":
		return p.assistant(m, blocks, at)
	case "toolResult":
		p.at(at)
		return p.blocks("user", []any{block{Type: "tool_result", ToolUseID: m.ToolCallID, IsError: m.IsError, Content: blocks}})
	case "user":
		p.at(at)
		return p.blocks("user", blocks)
	}
	return nil // a message of the program
}

// piBlocks converts parts to blocks.
func piBlocks(raw json.RawMessage) ([]any, error) {
	var parts []piPart
	if json.Unmarshal(raw, &parts) != nil {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, bad("read content: %w", err)
		}
		parts = []piPart{{Type: "text", Text: text}}
	}
	var out []any
	for _, p := range parts {
		switch p.Type {
		case "text":
			if p.Text != "" {
				out = append(out, block{Type: "text", Text: p.Text})
			}
		case "thinking":
			out = append(out, object{"type": "thinking", "thinking": p.Thinking, "signature": p.Signature})
		case "toolCall":
			out = append(out, object{"type": "tool_use", "id": p.ID, "name": p.Name, "input": p.Arguments})
		case "image":
			out = append(out, block{Type: "image", Source: &source{Type: "base64", MediaType: p.MimeType, Data: p.Data}})
		}
	}
	return out, nil
}

func (p *pi) blocks(role string, blocks []any) error {
	if len(blocks) == 0 {
		return nil
	}
	element, err := line(object{"role": role, "content": blocks})
	if err != nil {
		return bad("read content: %w", err)
	}
	return p.said(element)
}

// piReasons are Anthropic's words for pi's.
var piReasons = map[string]string{"stop": "end_turn", "toolUse": "tool_use", "length": "max_tokens"}

func (p *pi) assistant(m *piMessage, blocks []any, at time.Time) error {
	if p.url = dialect.URLOf(transcript.Messages); m.Provider != "anthropic" {
		p.url = "https://" + firstOf(m.Provider, "unknown") + ".invalid/v1/messages"
	}
	if blocks == nil {
		blocks = []any{}
	}
	response := object{"id": "msg_" + idOf(p.key, fmt.Sprint(p.answer), string(p.sum[:]))[:8], "type": "message", "role": "assistant", "model": m.Model, "content": blocks,
		"stop_reason": firstOf(piReasons[m.StopReason], m.StopReason)}
	if u := m.Usage; u != nil {
		response["usage"] = object{"input_tokens": u.Input, "output_tokens": u.Output, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite}
	}
	a := answerTo{model: m.Model, response: response, ended: at}
	if asked := time.UnixMilli(m.Timestamp).UTC(); m.Timestamp > 0 && !asked.Before(p.now) && !at.Before(asked) {
		a.began = asked
	}
	switch m.StopReason {
	case "aborted":
		a.outcome = transcript.ClientDisconnect
	case "error":
		a.outcome, a.err = transcript.UpstreamReset, &transcript.Error{Type: "error", Message: m.Error}
	}
	if a.outcome != "" {
		delete(response, "stop_reason")
		a.empty = len(blocks) == 0
	}
	if err := p.answered(a); err != nil {
		return err
	}
	return p.blocks("assistant", blocks)
}
