package dialect

import (
	"encoding/json"

	"github.com/retake-debugger/retake/transcript"
)

// messagesAPI is Anthropic's Messages, at Anthropic, on Vertex AI and under Bedrock's
// invoke.
var messagesAPI = API{
	Name:  transcript.Messages,
	Title: "Messages",

	Claim:     isMessages,
	IsAnswer:  isMessagesAnswer,
	IsEvent:   isMessagesEvent,
	Resembles: resemblesMessages,
	Arrays:    []Array{{"messages", true}, {"system", false}, {"tools", false}},
	Decode:    func(r *reader) decoder { return messagesDecoder{r} },
	Layout:    Blocks,
	Arguments: messagesArguments,
	Result:    messagesResult,
	ErrorMark: "is_error",
	System:    "system",
	Append:    appendMessages,
	Held:      []string{"thread"},

	Read:     readMessagesRequest,
	Write:    writeMessagesRequest,
	Limits:   Limits{ID: 64, Name: 128, PlainID: true}, // Bedrock's Converse documents 64 for ids
	Settings: messagesSettings,

	CachedParameters: []string{"tool_choice", "thinking"},
	UserFirst:        true,
	ToolsForCalls:    true,

	Path:    "/messages",
	Home:    "anthropic",
	Key:     KeyPlace{Header: "X-Api-Key"},
	Headers: map[string]string{"Anthropic-Version": "2023-06-01"}, // the only one since the API exists
	Error:   messagesError,
	Rules:   messagesRules,
	Ask:     askMessages,
}

// messagesSettings has none for what stands inside other parameters (messages_setting.go).
var messagesSettings = map[string]string{
	"model": "model", "stream": "stream", "max_tokens": "max_tokens", "temperature": "temperature", "top_p": "top_p", "stop": "stop_sequences",
}

func messagesError(object []byte) []byte {
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
