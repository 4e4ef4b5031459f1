// Package chat is all that is known of OpenAI's Chat Completions, and of what the many
// vendors that speak it made of it.
package chat

import (
	"encoding/json"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/transcript"
)

// API is the descriptor.
var API = api.API{
	Name:  transcript.Chat,
	Title: "Chat Completions",

	Claim:      isChat,
	IsAnswer:   isChatAnswer,
	IsEvent:    isChatEvent,
	Resembles:  resemblesChat,
	Arrays:     []api.Array{{Name: "messages", History: true}, {Name: "tools"}, {Name: "functions"}},
	Decode:     func(r *api.Reader) api.Decoder { return decoder{r} },
	Layout:     api.Members,
	Arguments:  arguments,
	Result:     chatResult,
	SystemList: "messages",
	Append:     appendChat,

	Read:     readChatRequest,
	Write:    writeChatRequest,
	Limits:   draft.Limits{ID: 40, Name: 64}, // a longer id is answered with 400 "string too long"
	Settings: settings,

	Path:  "/chat/completions",
	Home:  "openai",
	Key:   api.KeyPlace{Header: "Authorization", Scheme: "Bearer "},
	Error: api.PlainError,
	Rules: chatRules,
	Ask:   askChat,
}

var settings = map[string]string{
	"model": "model", "stream": "stream", "max_tokens": "max_completion_tokens", "temperature": "temperature", "top_p": "top_p",
	"stop": "stop", "metadata": "metadata", "store": "store", "user": "user", "safety_identifier": "safety_identifier",
	"prompt_cache_key": "prompt_cache_key", "prompt_cache_retention": "prompt_cache_retention", "service_tier": "service_tier",
	"parallel_tool_calls": "parallel_tool_calls", "effort": "reasoning_effort", "verbosity": "verbosity",
}

func askChat(model, system, user string, _ int) ([]byte, error) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	return json.Marshal(struct {
		Model    string    `json:"model"`
		Messages []message `json:"messages"`
	}{model, []message{{"system", system}, {"user", user}}})
}
