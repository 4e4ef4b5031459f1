package formats

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

// bytesPerToken is the approximate length of a token, if the provider counted none.
const bytesPerToken = 4

// Cut shortens tool results longer than most bytes in their middle, marks the place,
// and returns how many there were.
func (c *Conversation) Cut(most int) int {
	n := 0
	for i := range c.Items {
		it := &c.Items[i]
		if it.Kind == transcript.ToolResult && cutText(it, most) {
			n++
		}
	}
	return n
}

func cutText(it *transcript.Item, most int) bool {
	if len(it.Text) <= most {
		return false
	}
	head, tail := most*2/3, len(it.Text)-most/3
	for head > 0 && !utf8.RuneStart(it.Text[head]) {
		head--
	}
	for tail < len(it.Text) && !utf8.RuneStart(it.Text[tail]) {
		tail++
	}
	it.Text = it.Text[:head] + fmt.Sprintf("\n[… %d bytes left out …]\n", tail-head) + it.Text[tail:]
	it.Parts, it.Raw = nil, nil // they hold what was cut
	return true
}

// Fit shortens a conversation to about so many tokens: it drops the oldest rounds
// after the first user message, then cuts results. It returns what it did, "" for
// nothing. It estimates tokens as shares of the provider's count for the request, or
// as four bytes each.
func (c *Conversation) Fit(tokens int64) string {
	most := int64(float64(tokens) * c.bytesPerToken())
	if c.size() <= most {
		return ""
	}
	before := len(c.Items)
	c.dropOldest(most)
	did := ""
	if n := before - len(c.Items); n > 0 {
		did = fmt.Sprintf("%d items of the oldest rounds", n)
	}
	for limit := 64 << 10; c.size() > most && limit >= 256; limit /= 2 {
		if n := c.Cut(limit); n > 0 && did == "" {
			did = "the middle of long results"
		}
	}
	if c.size() > most {
		did += fmt.Sprintf("; it still has about %d tokens", int64(float64(c.size())/c.bytesPerToken()))
	}
	return did
}

func (c *Conversation) bytesPerToken() float64 {
	u := c.Exchange.Usage
	if u == nil || u.InputTotal == 0 {
		return bytesPerToken
	}
	input := int64(0)
	for i := range c.Items[:c.Output] {
		input += sizeOf(&c.Items[i])
	}
	for i := range c.Tools {
		input += int64(len(c.Tools[i].Raw))
	}
	per := float64(input) / float64(u.InputTotal)
	return min(max(per, 1), 8) // a token far from the usual length was counted differently
}

// around is what an item costs beside its text.
const around = 16

func sizeOf(it *transcript.Item) int64 { return int64(around + len(it.Text) + len(it.ArgumentsRaw)) }

func (c *Conversation) size() (n int64) {
	for i := range c.Items {
		n += sizeOf(&c.Items[i])
	}
	return n
}

// dropOldest drops whole rounds: from one beat to the next one that has results.
func (c *Conversation) dropOldest(most int64) {
	start := 0 // after system prompts and the first user message
	for start < c.Output && c.Items[start].Kind == transcript.System {
		start++
	}
	for start < c.Output && c.Items[start].Kind == transcript.MessageItem && c.Items[start].Role == "user" {
		start++
	}
	end, size := start, c.size()
	for i := start; i < c.Output && (size > most || end != i); i++ {
		size -= sizeOf(&c.Items[i])
		if next := i + 1; next == c.Output || roundBegins(c.Items, next) {
			end = next
		}
	}
	c.Items, c.message = slices.Delete(c.Items, start, end), slices.Delete(c.message, start, end)
	c.Output -= end - start
}

// roundBegins reports whether everything before an item is answered: it is the first
// item of an assistant after results, or a user message.
func roundBegins(items []transcript.Item, i int) bool {
	before, it := &items[i-1], &items[i]
	return before.Kind == transcript.ToolResult && it.Kind != transcript.ToolResult && (it.Kind != transcript.MessageItem || it.Role == "assistant") ||
		it.Kind == transcript.MessageItem && it.Role == "user" && before.Role == "assistant" && before.Kind == transcript.MessageItem
}
