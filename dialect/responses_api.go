package dialect

import (
	"encoding/json"

	"github.com/retake-debugger/retake/transcript"
)

// responsesAPI is OpenAI's Responses over HTTP: create, retrieve, cancel and compact
// all answer with an object that has an output.
var responsesAPI = API{
	Name:  transcript.Responses,
	Title: "Responses",

	Claim:      isResponses,
	IsAnswer:   isResponsesAnswer,
	IsEvent:    isResponsesEvent,
	Resembles:  resemblesResponses,
	Arrays:     []Array{{"input", true}, {"instructions", false}, {"tools", false}},
	Decode:     func(r *reader) decoder { return responsesDecoder{r} },
	Target:     responsesTarget,
	Layout:     Items,
	Arguments:  responsesArguments,
	Result:     responsesResultMember,
	System:     "instructions",
	SystemList: "input",
	Append:     appendResponses,
	Continue:   continueResponses,
	Held:       responsesHeld,
	Referable:  referable,

	Read:     readResponsesRequest,
	Write:    writeResponsesRequest,
	Limits:   Limits{ID: responsesMaxID, Name: 64},
	Settings: responsesSettings,

	Path:    "/responses",
	Home:    "openai",
	Sockets: true,
	Key:     KeyPlace{Header: "Authorization", Scheme: "Bearer "},
	Error:   plainError,
	Rules:   responsesRules,
	Ask:     askResponses,
}

var responsesHeld = []string{"previous_response_id", "conversation"}

var responsesSettings = map[string]string{
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
