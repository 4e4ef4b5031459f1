package formats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// Conversation is what one step saw and answered.
type Conversation struct {
	Title      string // what it is about; may be empty
	Ref        string // how a user names the step
	Exchange   *transcript.Exchange
	Tools      []transcript.Item
	Items      []transcript.Item          // oldest first, system prompts first, the answer last
	Parameters map[string]json.RawMessage // of the request: model, temperature …
	Output     int                        // where in Items the answer begins
	Gap        history.Gap                // why its beginning is missing

	message []string // of each item: the message it is part of
}

// Decode reads the turn of an exchange from its bytes.
type Decode func(*transcript.Exchange) (*transcript.Turn, error)

// ErrNoTranscript says that an exchange is in no known dialect.
var ErrNoTranscript = errors.New("unknown API, so there is no transcript")

// NewConversation reads the conversation of an exchange, including what only the
// provider holds.
func NewConversation(ctx context.Context, r transcript.Reader, e *transcript.Exchange, decode Decode) (*Conversation, error) {
	if e.Dialect == transcript.Unknown {
		return nil, ErrNoTranscript
	}
	turn, err := decode(e)
	if err != nil {
		return nil, err
	}
	full, err := history.FullHistory(ctx, r, e, func(of *transcript.Exchange) (*transcript.Turn, error) {
		if of.ID == e.ID {
			return turn, nil
		}
		return decode(of)
	})
	if err != nil {
		return nil, err
	}
	c := &Conversation{Ref: fmt.Sprintf("x%d", e.N), Title: transcript.Topic(turn.Input), Exchange: e, Parameters: turn.Parameters, Gap: full.Gap}
	var rest []history.HistoryItem // clients may write these before system prompts
	for _, h := range full.Items {
		if h.Kind == transcript.System && !dialect.InHistory(h.At) {
			c.add(h)
		} else {
			rest = append(rest, h)
		}
	}
	for _, h := range rest {
		c.add(h)
	}
	c.Output = len(c.Items)
	for i := range turn.Output {
		c.add(history.HistoryItem{Item: &turn.Output[i], Exchange: e, Body: "response"})
	}
	return c, nil
}

func (c *Conversation) add(h history.HistoryItem) {
	if h.Kind == transcript.ToolDefinition {
		c.Tools = append(c.Tools, *h.Item)
		return
	}
	c.Items = append(c.Items, *h.Item)
	c.message = append(c.message, messageOf(h.Body+h.Exchange.ID, h.At))
}

// messageOf names the message that an item is part of. The blocks of a message have a
// pointer each.
func messageOf(body, at string) string {
	if i := strings.LastIndex(at, "/content"); i >= 0 {
		at = at[:i]
	}
	return body + at
}

// Unfinished returns why a conversation is not complete: its answer failed, was cut
// or is still in progress. "" if it is complete.
func (c *Conversation) Unfinished() string {
	e := c.Exchange
	switch {
	case e.Outcome != transcript.OK:
		return "its last answer did not end well (" + string(e.Outcome) + ")"
	case !e.Complete:
		return "its last answer was cut"
	case c.Output == len(c.Items):
		return "its last answer is empty"
	}
	return ""
}

// OpenCalls returns how many calls of the answer have no result yet.
func (c *Conversation) OpenCalls() int {
	n := 0
	for i := c.Output; i < len(c.Items); i++ {
		if it := &c.Items[i]; it.Kind == transcript.ToolCall && !it.ServerSide && it.Choice == 0 {
			n++
		}
	}
	return n
}
