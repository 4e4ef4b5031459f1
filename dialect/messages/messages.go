// Package messages is all that is known of Anthropic's Messages, at Anthropic, on Vertex
// AI and under Bedrock's invoke.
package messages

import (
	"encoding/json"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/transcript"
)

// API is the descriptor.
var API = api.API{
	Name:  transcript.Messages,
	Title: "Messages",

	Claim:     isMessages,
	IsAnswer:  isMessagesAnswer,
	IsEvent:   isMessagesEvent,
	Resembles: resemblesMessages,
	Arrays:    []api.Array{{Name: "messages", History: true}, {Name: "system"}, {Name: "tools"}},
	Decode:    func(r *api.Reader) api.Decoder { return decoder{r} },
	Layout:    api.Blocks,
	Arguments: arguments,
	Result:    messagesResult,
	ErrorMark: "is_error",
	System:    "system",
	Append:    appendMessages,
	Held:      []string{"thread"},

	Read:     readMessagesRequest,
	Write:    writeMessagesRequest,
	Limits:   draft.Limits{ID: 64, Name: 128, PlainID: true}, // Bedrock's Converse documents 64 for ids
	Settings: settings,

	CachedParameters: []string{"tool_choice", "thinking"},
	UserFirst:        true,
	ToolsForCalls:    true,

	Path:    "/messages",
	Home:    "anthropic",
	Key:     api.KeyPlace{Header: "X-Api-Key"},
	Headers: map[string]string{"Anthropic-Version": "2023-06-01"}, // the only one since the API exists
	Error:   writeError,
	Rules:   messagesRules,
	Ask:     askMessages,
}

// settings has none for what stands inside other parameters (messages_setting.go).
var settings = map[string]string{
	"model": "model", "stream": "stream", "max_tokens": "max_tokens", "temperature": "temperature", "top_p": "top_p", "stop": "stop_sequences",
}

func writeError(object []byte) []byte {
	return []byte(`{"type":"error","error":` + string(object) + `}`)
}

func askMessages(model, system, user string, tokens int) ([]byte, error) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	return json.Marshal(struct {
		Model     string    `json:"model"`
		MaxTokens int       `json:"max_tokens"`
		System    string    `json:"system"`
		Messages  []message `json:"messages"`
	}{model, tokens, system, []message{{"user", user}}})
}
