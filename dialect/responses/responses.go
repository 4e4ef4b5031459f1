// Package responses is all that is known of OpenAI's Responses over HTTP: create,
// retrieve, cancel and compact all answer with an object that has an output.
package responses

import (
	"encoding/json"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/transcript"
)

// API is the descriptor.
var API = api.API{
	Name:  transcript.Responses,
	Title: "Responses",

	Claim:      isResponses,
	IsAnswer:   isResponsesAnswer,
	IsEvent:    isResponsesEvent,
	Resembles:  resemblesResponses,
	Arrays:     []api.Array{{Name: "input", History: true}, {Name: "instructions"}, {Name: "tools"}},
	Decode:     func(r *api.Reader) api.Decoder { return decoder{r} },
	Target:     target,
	Layout:     api.Items,
	Arguments:  arguments,
	Result:     resultMember,
	System:     "instructions",
	SystemList: "input",
	Append:     appendResponses,
	Continue:   continueResponses,
	Held:       held,
	Referable:  referable,

	Read:     readResponsesRequest,
	Write:    writeResponsesRequest,
	Limits:   draft.Limits{ID: responsesMaxID, Name: 64},
	Settings: settings,

	Path:    "/responses",
	Home:    "openai",
	Sockets: true,
	Key:     api.KeyPlace{Header: "Authorization", Scheme: "Bearer "},
	Error:   api.PlainError,
	Rules:   responsesRules,
	Ask:     askResponses,
}

var held = []string{"previous_response_id", "conversation"}

var settings = map[string]string{
	"model": "model", "stream": "stream", "max_tokens": "max_output_tokens", "temperature": "temperature", "top_p": "top_p",
	"metadata": "metadata", "store": "store", "user": "user", "safety_identifier": "safety_identifier",
	"prompt_cache_key": "prompt_cache_key", "prompt_cache_retention": "prompt_cache_retention", "service_tier": "service_tier",
	"parallel_tool_calls": "parallel_tool_calls",
}

// referable reports whether the provider keeps an item, or it is a compaction.
func referable(t *transcript.Turn, it *transcript.Item) bool {
	return it.ItemID != "" && (it.Kind == transcript.Compaction || string(t.Parameters["store"]) != "false")
}

func askResponses(model, system, user string, _ int) ([]byte, error) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	return json.Marshal(struct {
		Model        string    `json:"model"`
		Instructions string    `json:"instructions"`
		Input        []message `json:"input"`
		Store        bool      `json:"store"`
	}{model, system, []message{{"user", user}}, false})
}
