package transcript

// Change says what a step has otherwise than the one that it goes on from. The
// zero Change: it only goes on.
type Change struct {
	System    bool   `json:"system,omitempty"`    // the system prompt is another, apart from dates and the like
	Tools     bool   `json:"tools,omitempty"`     // other tools are offered
	Model     string `json:"model,omitempty"`     // the model asked before, if it is another now
	Dialect   string `json:"dialect,omitempty"`   // the API spoken before, if it is another now
	Upstream  string `json:"upstream,omitempty"`  // the upstream called before, if it is another now
	Handoff   bool   `json:"handoff,omitempty"`   // another agent goes on: its system prompt has little in common
	Compacted bool   `json:"compacted,omitempty"` // the history gave way to a summary
	Rewritten bool   `json:"rewritten,omitempty"` // a part of the history is another now
	Passed    Load   `json:"passed"`              // what went on: history that both have, or the text handed over
	Dropped   Load   `json:"dropped"`             // history before that is not sent any more
	Added     Load   `json:"added"`               // what is new beside the output before
}

// Load counts what is passed from step to step.
type Load struct {
	Items    int   `json:"items"`    // of the chain
	Messages int   `json:"messages"` // among them
	Results  int   `json:"results"`  // tool results among them
	Bytes    int64 `json:"bytes"`    // of texts and arguments
	Tokens   int64 `json:"tokens"`   // about: as the usage of the request shares out over its bytes; 0 if it is not known
}

// Add counts an item.
func (l *Load) Add(it *Item) {
	l.Items++
	switch it.Kind {
	case MessageItem:
		l.Messages++
	case ToolResult:
		l.Results++
	}
	l.Bytes += int64(len(it.Text) + len(it.ArgumentsRaw))
}
