package transcript

import "encoding/json"

// Turn is an exchange decoded. It is derived from the bytes alone.
type Turn struct {
	Dialect        Dialect
	Model          string // as asked for
	ResponseModel  string // as answered
	ResponseID     string
	PreviousID     string // previous_response_id, or the like
	FinishReason   string // the provider's own word of choice 0
	Stream         bool
	Complete       bool // the answer's own end was seen
	Input          []Item
	Output         []Item
	Text           string // visible assistant text of choice 0
	Usage          *Usage
	UsageRaw       json.RawMessage
	Error          *Error
	Response       json.RawMessage // the response object; of a stream, the reassembled one
	Events         int             // SSE events
	FirstContentAt int64           // offset in the decoded response body after the first event with content; -1 if none
	Warnings       []string        // what was odd and how it was read

	Conversation string `json:",omitempty"` // id of the conversation, held by the provider, that it belongs to
	RetrievedID  string `json:",omitempty"` // id of the answer that a poll, a resumed stream or a cancellation is about
	Replaces     bool   `json:",omitempty"` // the output is the whole history from here on (Responses' compact)

	// Parameters are the members of the request that Input does not hold: model,
	// max_tokens, tool_choice, and any that do not belong into this dialect.
	Parameters map[string]json.RawMessage `json:",omitempty"`
	Collisions int                        `json:",omitempty"` // tool calls of a stream that claimed the index of another one
	NotJSON    int                        `json:",omitempty"` // events of a stream whose data are not JSON
}
