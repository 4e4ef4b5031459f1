package transcript

import "encoding/json"

// Edit is one change that a take makes to a recorded request. Nothing recorded
// is changed by it. Which members count depends on Op.
type Edit struct {
	Op      string          `json:"op"`                // one of the Ops below; "" means SetResult
	CallID  string          `json:"call_id,omitempty"` // of SetResult and SetArgs
	At      string          `json:"at,omitempty"`      // JSON pointer of what is changed, in the request as the edits before this one left it
	Was     string          `json:"was,omitempty"`     // what stood there: its text, or JSON
	Text    string          `json:"text,omitempty"`    // of SetResult, SetSystem, SetModel; the name of SetParam
	Value   json.RawMessage `json:"value,omitempty"`   // of the others: JSON
	IsError *bool           `json:"is_error,omitempty"`
}

// The Ops of edits.
const (
	SetResult = "set_result" // the result of CallID, or the one at At, gets another Text; and IsError if it is not nil
	SetArgs   = "set_args"   // the call CallID in the history gets other arguments: Value
	SetSystem = "set_system" // the system prompt becomes Text
	SetValue  = "set"        // what is At becomes Value; a member that is not there is added
	Drop      = "drop"       // what is At is taken out
	Insert    = "insert"     // Value is put in At, as the "add" of a JSON Patch does
	SetModel  = "model"      // the model becomes Text
	SetParam  = "param"      // the member Text of the request becomes Value
	SetTools  = "tools"      // the tools become Value, a list
	Patch     = "patch"      // Value is a JSON Patch (RFC 6902)
)
