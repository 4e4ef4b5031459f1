package transcript

import "encoding/json"

// Kind is what an Item is.
type Kind string

// The kinds of items. An unknown kind is Other, never an error.
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

// Reference is the Name of an Other that refers to an item that the provider
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
	// Cut is set if the item holds only the beginnings of its texts.
	Cut *Cut `json:"-"`
}

// Cut tells of an item that was cut what the whole one is: how many bytes its texts
// and its source have, and a key of its own, by which items that were cut alike are
// the same.
type Cut struct {
	Text, Arguments, Raw int
	Key                  Key
}
