package minimise

import (
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// complete returns a candidate with what its API needs besides: a conversation, which
// begins with a user if it must and, if the whole one does, ends with something to
// answer; a text in each message; a tool if one is needed beside calls.
func (p *parts) complete(c *candidate) *candidate {
	c = c.clone()
	if first := p.first(p.kept(c)); first < 0 || p.api.UserFirst && saidByModel(p.pieces[first].item) {
		c.keep(p.opening())
	}
	last := len(p.pieces) - 1
	for ; last >= 0 && !inConversation(p.pieces[last].item); last-- {
	}
	if last >= 0 && !saidByModel(p.pieces[last].item) {
		kept := p.kept(c)
		now := last
		for ; now >= 0 && !(kept[now] && inConversation(p.pieces[now].item)); now-- {
		}
		if now < 0 || saidByModel(p.pieces[now].item) {
			c.keep(p.pieces[last].unit)
		}
	}
	p.completeTexts(c)
	p.completeTools(c)
	return c
}

func (c *candidate) keep(unit int) {
	if unit >= 0 {
		c.units[unit] = true
	}
}

func inConversation(it *transcript.Item) bool { return it.Kind != transcript.System }

// first returns the piece with which the conversation begins, -1 if there is none.
func (p *parts) first(kept []bool) int {
	for i := range p.pieces {
		if kept[i] && inConversation(p.pieces[i].item) {
			return i
		}
	}
	return -1
}

// opening returns the unit with which a conversation may begin: the first words of a
// user, -1 if there is nothing.
func (p *parts) opening() int {
	for i := range p.pieces {
		if it := p.pieces[i].item; it.Kind == transcript.MessageItem && it.Role == "user" {
			return p.pieces[i].unit
		}
	}
	for i := range p.pieces {
		if inConversation(p.pieces[i].item) && p.pieces[i].unit >= 0 {
			return p.pieces[i].unit
		}
	}
	return -1
}

// completeTexts keeps a line of each message.
func (p *parts) completeTexts(c *candidate) {
	for i := range p.texts {
		if t := &p.texts[i]; p.pieces[t.piece].item.Kind != transcript.ToolResult && !slices.Contains(c.lines[i], true) {
			c.lines[i][0] = true
		}
	}
}

// completeTools keeps the tool of a call.
func (p *parts) completeTools(c *candidate) {
	if !p.api.ToolsForCalls || len(p.tools) == 0 || slices.Contains(c.tools, true) {
		return
	}
	kept := p.kept(c)
	for i := range p.pieces {
		if it := p.pieces[i].item; kept[i] && it.Kind == transcript.ToolCall {
			named := slices.IndexFunc(p.tools, func(t piece) bool { return t.item.Name == it.Name })
			c.tools[max(named, 0)] = true
			return
		}
	}
}
