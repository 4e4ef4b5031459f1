package transcript

// Change says how a step differs from the one that it continues. The zero Change:
// it only goes on.
type Change struct {
	System    bool   `json:"system,omitempty"`    // the system prompt changed, apart from dates and the like
	Tools     bool   `json:"tools,omitempty"`     // other tools are offered
	Model     string `json:"model,omitempty"`     // the model asked before, if it changed
	Dialect   string `json:"dialect,omitempty"`   // the API spoken before, if it changed
	Upstream  string `json:"upstream,omitempty"`  // the upstream called before, if it changed
	Handoff   bool   `json:"handoff,omitempty"`   // another agent goes on: its system prompt has little in common
	Compacted bool   `json:"compacted,omitempty"` // the history gave way to a summary
	Rewritten bool   `json:"rewritten,omitempty"` // part of the history changed
	Passed    Amount `json:"passed"`              // history that both have, or the text handed over
	Dropped   Amount `json:"dropped"`             // history that is not sent any more
	Added     Amount `json:"added"`               // what is new besides the output before
}

// Amount counts what passes from step to step.
type Amount struct {
	Items    int   `json:"items"`    // of the chain
	Messages int   `json:"messages"` // among them
	Results  int   `json:"results"`  // tool results among them
	Bytes    int64 `json:"bytes"`    // of texts and arguments
	Tokens   int64 `json:"tokens"`   // estimate: the usage of the request, spread over its bytes; 0 if unknown
}

// Add counts an item.
func (l *Amount) Add(it *Item) {
	l.Items++
	switch it.Kind {
	case MessageItem:
		l.Messages++
	case ToolResult:
		l.Results++
	}
	l.Bytes += int64(len(it.Text) + len(it.ArgumentsRaw))
}
