package transcript

import "encoding/json"

// Edit is one change that a take makes to a recorded request, which itself stays as
// it is. Which fields count depends on Op.
type Edit struct {
	Op      string          `json:"op"`                // one of the Ops below; "" means SetResult
	CallID  string          `json:"call_id,omitempty"` // of SetResult and SetArgs
	At      string          `json:"at,omitempty"`      // JSON pointer of what changes, in the request after the edits before this one
	Was     string          `json:"was,omitempty"`     // what was there: its text, or JSON
	Text    string          `json:"text,omitempty"`    // of SetResult, SetSystem, SetModel; the name of SetParam
	Value   json.RawMessage `json:"value,omitempty"`   // of the others: JSON
	IsError *bool           `json:"is_error,omitempty"`
}

// The Ops of edits.
const (
	SetResult = "set_result" // the result of CallID, or the one at At, becomes Text; with IsError if it is not nil
	SetArgs   = "set_args"   // the arguments of call CallID in the history become Value
	SetSystem = "set_system" // the system prompt becomes Text
	SetValue  = "set"        // the value at At becomes Value; a missing member is added
	Drop      = "drop"       // the value at At is removed
	Insert    = "insert"     // Value is inserted at At, like the "add" of a JSON Patch
	SetModel  = "model"      // the model becomes Text
	SetParam  = "param"      // the member Text of the request becomes Value
	SetTools  = "tools"      // the tools become Value, a list
	Patch     = "patch"      // Value is a JSON Patch (RFC 6902)
)
