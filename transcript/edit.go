package transcript

// Edit is one change that a take makes to a recorded request. Nothing recorded
// is changed by it.
type Edit struct {
	Op      string `json:"op"` // "set_result"
	CallID  string `json:"call_id"`
	At      string `json:"at"`  // JSON pointer of the changed item in the recorded request
	Was     string `json:"was"` // its text there
	Text    string `json:"text"`
	IsError *bool  `json:"is_error,omitempty"`
}

// SetResult is the Op that gives a tool result another text.
const SetResult = "set_result"
