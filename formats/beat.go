package formats

import (
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// beat is one message of a conversation.
type beat struct {
	role    string             // "system", "user" or "assistant"
	items   []*transcript.Item // texts, reasoning, calls, others, in order
	message []string           // of each item: the message it is part of
	results []*transcript.Item // of an assistant: one for each call, nil if it has none
}

// calls returns the calls of a beat that the client must run.
func (b *beat) calls() []*transcript.Item {
	var list []*transcript.Item
	for _, it := range b.items {
		if isCall(it) {
			list = append(list, it)
		}
	}
	return list
}

func isCall(it *transcript.Item) bool { return it.Kind == transcript.ToolCall && !it.ServerSide }

// text joins the texts of a beat: the parts of one message as they are, messages with
// a blank line between them.
func (b *beat) text() string {
	var out strings.Builder
	last := ""
	for i, it := range b.items {
		if it.Kind != transcript.MessageItem && it.Kind != transcript.System || it.Text == "" {
			continue
		}
		if out.Len() > 0 && (b.message[i] != last || b.role == "system") {
			out.WriteString("\n\n")
		}
		out.WriteString(it.Text)
		last = b.message[i]
	}
	return out.String()
}

// beats orders a conversation, each result after its call. An item that no order has
// a place for is a loss.
func (c *Conversation) beats(lost *Losses) []*beat {
	o := ordering{c: c, lost: lost, result: map[int]int{}}
	for _, m := range transcript.PairItems(c.Items) {
		switch m.State {
		case transcript.Paired:
			o.result[m.Call] = m.Result
		case transcript.OrphanResult:
			lost.add("results without a call")
		case transcript.Duplicate:
			lost.add("second results for a call")
		}
	}
	for i := range c.Items {
		o.take(i)
	}
	return o.list
}

type ordering struct {
	c      *Conversation
	lost   *Losses
	result map[int]int // call → result
	list   []*beat
	next   bool // a result was seen: the next item of the assistant begins another beat
}

func (o *ordering) take(i int) {
	it := &o.c.Items[i]
	if it.Choice > 0 {
		o.lost.add("further choices")
		return
	}
	switch {
	case it.Kind == transcript.ToolResult && !it.ServerSide:
		o.next = true
	case it.Kind == transcript.System:
		o.beat("system", false).put(it, o.c.message[i])
	case it.Kind == transcript.MessageItem && it.Role != "assistant" && it.Role != "model":
		o.beat("user", false).put(it, o.c.message[i])
	case it.Kind == transcript.Compaction && it.Role != "assistant", it.Kind == transcript.Other && it.Role == "user":
		o.beat("user", false).put(it, o.c.message[i])
	default:
		b := o.beat("assistant", o.next)
		b.put(it, o.c.message[i])
		if isCall(it) {
			var result *transcript.Item
			if k, ok := o.result[i]; ok {
				result = &o.c.Items[k]
			}
			b.results = append(b.results, result)
		}
	}
}

// beat returns the last beat if it has that role, else a new one.
func (o *ordering) beat(role string, fresh bool) *beat {
	o.next = false
	if n := len(o.list); n > 0 && !fresh && o.list[n-1].role == role {
		return o.list[n-1]
	}
	b := &beat{role: role}
	o.list = append(o.list, b)
	return b
}

func (b *beat) put(it *transcript.Item, message string) {
	b.items, b.message = append(b.items, it), append(b.message, message)
}

// answered drops the calls without a result, which providers refuse, and beats that
// are empty without them. If last is set, the last beat keeps its calls: they are
// what it says.
func answered(list []*beat, last bool, lost *Losses) []*beat {
	out := list[:0:0]
	for n, b := range list {
		if b.role != "assistant" || last && n == len(list)-1 && none(b.results) {
			out = append(out, b)
			continue
		}
		kept := &beat{role: b.role}
		call := 0
		for i, it := range b.items {
			if isCall(it) {
				call++
				if b.results[call-1] == nil {
					lost.add("calls without a result")
					continue
				}
				kept.results = append(kept.results, b.results[call-1])
			}
			kept.put(it, b.message[i])
		}
		if len(kept.items) > 0 {
			out = append(out, kept)
		}
	}
	return out
}

func none(results []*transcript.Item) bool {
	for _, r := range results {
		if r != nil {
			return false
		}
	}
	return true
}
