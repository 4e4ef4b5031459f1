package formats

import (
	"encoding/json"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// chatLog rebuilds exchanges from messages of Chat Completions: each assistant
// message is an answer to the messages before it.
type chatLog struct {
	*rebuilding
	model  string
	usage  any // of the next answer
	reason string
	ended  time.Time // of the next answer
}

func (s *Source) chatLog(key string, emit emitter) *chatLog {
	return &chatLog{rebuilding: s.rebuild(transcript.Chat, key, emit)}
}

// message adds the next message as it is. An example before the task, or an assistant
// message without anything before it, is not an answer.
func (c *chatLog) message(raw json.RawMessage, history bool) error {
	var m struct {
		Role      string            `json:"role"`
		ToolCalls []json.RawMessage `json:"tool_calls"`
	}
	if err := json.Unmarshal(raw, &m); err != nil || m.Role == "" {
		return bad("no message: it has no role")
	}
	if m.Role == "assistant" && !history {
		reason := c.reason
		if reason == "" {
			if reason = "stop"; len(m.ToolCalls) > 0 {
				reason = "tool_calls"
			}
		}
		response := object{"id": "chatcmpl-" + idOf(c.key, string(c.sum[:]), string(raw))[:8], "object": "chat.completion",
			"choices": []any{object{"index": 0, "message": compactRaw(raw), "finish_reason": reason}}}
		if c.model != "" {
			response["model"] = c.model
		}
		if c.usage != nil {
			response["usage"] = c.usage
		}
		if err := c.answered(answerTo{model: c.model, response: response, ended: c.ended}); err != nil {
			return err
		}
		c.usage, c.reason = nil, ""
	}
	return c.said(raw)
}

func compactRaw(raw json.RawMessage) json.RawMessage { return compact(raw) }

// fitsOpenAIChat accepts lines with messages, as for fine-tuning.
func fitsOpenAIChat(head []byte) bool {
	return begins(head, '{') && holds(head, `"messages"`, `"role"`)
}

func readOpenAIChat(s *Source, emit emitter) error {
	return s.lines(func(text []byte) error {
		var l struct {
			Model    string            `json:"model"`
			Messages []json.RawMessage `json:"messages"`
			Tools    json.RawMessage   `json:"tools"`
		}
		if err := json.Unmarshal(text, &l); err != nil {
			return bad("read line: %w", err)
		}
		if len(l.Messages) == 0 {
			return bad("it has no messages")
		}
		c := s.chatLog("openai-chat", emit)
		c.model, c.grade = l.Model, transcript.Rebuilt
		if len(l.Tools) > 0 && string(l.Tools) != "null" {
			c.tail = append([]byte(`,"tools":`), compact(l.Tools)...)
		}
		for _, m := range l.Messages {
			if err := c.message(m, false); err != nil {
				return err
			}
		}
		if c.answer == 0 {
			return bad("no assistant says anything in it")
		}
		return nil
	})
}
