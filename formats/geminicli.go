package formats

import (
	"encoding/json"
	"strings"
	"time"
)

// Gemini CLI logs what a session shows: texts, short thoughts, calls with their
// results. They are rebuilt in Chat Completions, for viewing only.
type geminiMessage struct {
	ID        string          `json:"id"`
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	Model     string          `json:"model"`
	Thoughts  []struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
	} `json:"thoughts"`
	ToolCalls []struct {
		ID     string          `json:"id"`
		Name   string          `json:"name"`
		Args   json.RawMessage `json:"args"`
		Result json.RawMessage `json:"result"`
		Status string          `json:"status"`
	} `json:"toolCalls"`
	Tokens *struct {
		Input    int64 `json:"input"`
		Output   int64 `json:"output"`
		Cached   int64 `json:"cached"`
		Thoughts int64 `json:"thoughts"`
		Total    int64 `json:"total"`
	} `json:"tokens"`
}

func fitsGeminiCLI(head []byte) bool {
	return begins(head, '{') && holds(head, `"sessionId"`, `"messages"`) && (holds(head, `"projectHash"`) || holds(head, `"type": "gemini"`) || holds(head, `"type":"gemini"`))
}

func readGeminiCLI(s *Source, emit emitter) error {
	g := &geminiCLI{chatLog: s.chatLog("gemini-cli\x00"+s.Name, emit)}
	g.url, g.label = "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", s.Name
	return s.elements([]string{"messages"}, func(name string, raw json.RawMessage) {
		if name == "sessionId" {
			g.key = "gemini-cli\x00" + stringOf(raw)
		}
	}, g.take)
}

type geminiCLI struct{ *chatLog }

func (g *geminiCLI) take(_ string, raw json.RawMessage) error {
	var m geminiMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return bad("read message: %w", err)
	}
	switch m.Type {
	case "user":
		g.at(moment(m.Timestamp))
		return g.put(object{"role": "user", "content": textOfContent(m.Content)})
	case "gemini":
		return g.answer(&m)
	}
	return nil // messages of the program: info, error
}

func (g *geminiCLI) answer(m *geminiMessage) error {
	said := object{"role": "assistant", "content": textOfContent(m.Content)}
	var thoughts []string
	for _, t := range m.Thoughts {
		thoughts = append(thoughts, strings.TrimSpace(t.Subject+"\n"+t.Description))
	}
	if len(thoughts) > 0 {
		said["reasoning_content"] = strings.Join(thoughts, "\n\n")
	}
	var calls []chatCall
	for _, c := range m.ToolCalls {
		calls = append(calls, chatCall{c.ID, "function", chatFunction{c.Name, firstOf(string(compact(c.Args)), "{}")}})
	}
	if calls != nil {
		said["tool_calls"] = calls
	}
	g.model, g.ended = m.Model, moment(m.Timestamp)
	if t := m.Tokens; t != nil {
		g.usage = object{"prompt_tokens": t.Input, "prompt_tokens_details": object{"cached_tokens": t.Cached}, "completion_tokens": t.Output + t.Thoughts,
			"completion_tokens_details": object{"reasoning_tokens": t.Thoughts}, "total_tokens": t.Total}
	}
	if err := g.put(said); err != nil {
		return err
	}
	for _, c := range m.ToolCalls {
		if len(c.Result) == 0 || string(c.Result) == "null" {
			continue
		}
		g.at(time.Time{}) // a call has the time at which it was requested
		if err := g.put(object{"role": "tool", "tool_call_id": c.ID, "content": geminiResult(c.Result)}); err != nil {
			return err
		}
	}
	return nil
}

// geminiResult is the output of a function's response, or its source.
func geminiResult(raw json.RawMessage) string {
	var list []struct {
		FunctionResponse struct {
			Response struct {
				Output *string `json:"output"`
				Error  *string `json:"error"`
			} `json:"response"`
		} `json:"functionResponse"`
	}
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 {
		r := &list[0].FunctionResponse.Response
		if r.Output != nil {
			return *r.Output
		}
		if r.Error != nil {
			return *r.Error
		}
	}
	if text := stringOf(raw); text != "" {
		return text
	}
	return string(compact(raw))
}

func (g *geminiCLI) put(m object) error {
	raw, err := line(m)
	if err != nil {
		return bad("read message: %w", err)
	}
	return g.message(raw, false)
}
