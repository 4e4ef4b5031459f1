package formats

import (
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// With gives the conversation with other items, each a message of its own.
func (c *Conversation) With(items []transcript.Item) *Conversation {
	with := *c
	with.Items, with.message, with.Output = items, nil, len(items)-(len(c.Items)-c.Output)
	for i := range items {
		with.message = append(with.message, fmt.Sprint(i))
	}
	return &with
}
