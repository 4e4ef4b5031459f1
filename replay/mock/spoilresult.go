package mock

import (
	"sync"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// changedResults are tool results that faults gave another text. The agent knows nothing
// of that and sends them again as they were, so they are changed in every later request,
// too: the model sees one history.
type changedResults struct {
	mu   sync.Mutex
	text map[originalResult]string
}

// originalResult is a result as the agent sends it. Call ids repeat, so its text counts.
type originalResult struct{ callID, text string }

// mostChanged bounds how many are remembered.
const mostChanged = 10_000

func (c *changedResults) find(it *transcript.Item) (text string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, ok = c.text[originalResult{it.CallID, it.Text}]
	return text, ok
}

func (c *changedResults) add(it *transcript.Item, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.text == nil {
		c.text = map[originalResult]string{}
	}
	if len(c.text) < mostChanged {
		c.text[originalResult{it.CallID, it.Text}] = text
	}
}

func (c *changedResults) any() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.text) > 0
}

func (c *changedResults) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = nil
}

// ordered returns the text that a fault orders for the last result of the request.
func (a *answer) ordered() (text string, ok bool) {
	for _, f := range a.faults {
		if f.Kind == Result {
			text, ok = f.Text, true
		}
	}
	return text, ok
}

// changeResults sets the last tool result of the request to the text of a fault, and those
// that had one before theirs.
func (a *answer) changeResults() {
	text, ordered := a.ordered()
	if !ordered && !a.results.any() {
		return
	}
	items := dialect.Decode(a.dialect, &dialect.Wire{Method: a.r.Method, URL: a.r.URL.RequestURI(), Request: a.body}).Input
	for i := len(items) - 1; i >= 0; i-- {
		it := &items[i]
		if it.Kind != transcript.ToolResult || it.ServerSide {
			continue
		}
		if ordered {
			a.results.add(it, text)
			ordered = false
		}
		now, ok := a.results.find(it)
		if !ok {
			continue
		}
		if changed, err := dialect.SetResultAt(a.dialect, a.body, it.At, now); err == nil {
			a.body, a.wire, a.changed = changed, changed, true
			a.r.Header.Del("Content-Encoding")
		}
	}
}
