package transcript

import "encoding/json"

// Kind is what an Item is.
type Kind string

// The kinds of items. What is not known is Other, never an error.
const (
	System         Kind = "system"
	MessageItem    Kind = "message"
	Reasoning      Kind = "reasoning"
	ToolCall       Kind = "tool_call"
	ToolResult     Kind = "tool_result"
	ToolDefinition Kind = "tool_definition"
	Compaction     Kind = "compaction"
	Other          Kind = "other"
)

// Reference is the Name of an Other that stands for an item that the provider
// holds: the one with its ItemID.
const Reference = "item_reference"

// Item is one unit of a transcript.
type Item struct {
	Kind         Kind            `json:"kind"`
	Role         string          `json:"role"`
	CallID       string          `json:"call_id"`
	Name         string          `json:"name"`
	Text         string          `json:"text"`
	ArgumentsRaw string          `json:"arguments_raw"` // verbatim; "" for a call without any
	Arguments    json.RawMessage `json:"arguments"`     // ArgumentsRaw read as JSON; nil if it is not JSON
	IsError      bool            `json:"is_error"`
	ServerSide   bool            `json:"server_side"` // run by the provider: never a pending call
	Choice       int             `json:"choice"`
	At           string          `json:"at"` // JSON pointer into its body, or into the reassembled response object
	Raw          json.RawMessage `json:"raw"`
	// ItemID is an id minted for the item itself (fc_…, msg_…, rs_…), never part of a key.
	ItemID string `json:"item_id,omitempty"`
	// Parts are the hashes (HashJSON) of all parts that are not text, in order.
	Parts []string `json:"-"`
	// Cut is there if the item holds only the beginnings of its texts.
	Cut *Cut `json:"-"`
}

// Cut tells of an item that was cut what the whole one is: how many bytes its texts
// and its source have, and a key of its own, by which items that were cut alike are
// the same.
type Cut struct {
	Text, Arguments, Raw int
	Key                  Key
}

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
	FirstContentAt int64           // offset in the decoded response body behind the first event with content; -1 if none
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
