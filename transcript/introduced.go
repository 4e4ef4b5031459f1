package transcript

import (
	"context"
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"
)

// IntroducedItem is an item that an exchange introduced.
type IntroducedItem struct {
	Item *Item
	Body string // "request" or "response"
	Tool string // name of the tool that is called, defined or answers
}

// IsSetting reports whether an item is a setting, which each exchange sends again,
// rather than an event.
func (it *Item) IsSetting() bool { return it.Kind == System || it.Kind == ToolDefinition }

// Known holds what an exchange sent or received outside the chain of its history:
// settings and reasoning, which the exchanges that continue it send again.
type Known map[Key]bool

// KnownOf returns what is known to the exchanges that continue this turn.
func KnownOf(t *Turn) Known {
	k := Known{}
	for _, items := range [][]Item{t.Input, t.Output} {
		for i := range items {
			if !items[i].InChain() {
				k[ContentKey(&items[i])] = true
			}
		}
	}
	return k
}

// ContentKey is equal for items with equal fields, whatever their place and ids.
func ContentKey(it *Item) Key {
	h := sha256.New()
	for _, f := range append(it.Fields(), Field{"kind", string(it.Kind)}, Field{"role", it.Role}) {
		h.Write([]byte(strconv.Itoa(len(f.Text)) + f.Name))
		h.Write([]byte(f.Text))
	}
	return Key(h.Sum(nil)[:16])
}

// IntroducedBy lists the items that an exchange introduced: its input less the
// first shared chain items, which the history before held, and less what before
// knows; its output; and its failure, as an item of kind Failure. before is what
// the exchange that it continues made known.
func IntroducedBy(e *Exchange, t *Turn, shared int, before Known) []IntroducedItem {
	var list []IntroducedItem
	known := Known{}
	inChain := 0
	for i := range t.Input {
		it := &t.Input[i]
		if it.InChain() {
			if inChain++; inChain > shared {
				list = append(list, IntroducedItem{it, "request", toolOf(t.Input[:i+1])})
			}
			continue
		}
		if key := ContentKey(it); !before[key] && !known[key] {
			known[key] = true
			list = append(list, IntroducedItem{it, "request", toolOf(t.Input[:i+1])})
		}
	}
	for i := range t.Output {
		list = append(list, IntroducedItem{&t.Output[i], "response", toolOf(t.Output[:i+1])})
	}
	if e.Error != nil {
		list = append(list, IntroducedItem{FailureItem(e.Error), "response", ""})
	}
	return list
}

// FailureItem returns a failure as an item.
func FailureItem(e *Error) *Item {
	var parts []string
	for _, p := range []string{e.Type, e.Code, e.Message} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return &Item{Kind: Failure, Text: strings.Join(parts, ": "), IsError: true, At: "/error"}
}

// toolOf returns the name of the tool that the last of these items is about, "" if
// there is none or its call is not among them.
func toolOf(items []Item) string {
	it := &items[len(items)-1]
	if it.Name != "" || it.Kind != ToolResult || it.CallID == "" {
		if it.Kind == ToolCall || it.Kind == ToolResult || it.Kind == ToolDefinition {
			return it.Name
		}
		return ""
	}
	for i := len(items) - 2; i >= 0; i-- {
		if items[i].Kind == ToolCall && items[i].CallID == it.CallID {
			return items[i].Name
		}
	}
	return ""
}

// NameTools sets the tool of results whose calls are in the answer that the
// exchange continues.
func NameTools(ctx context.Context, r Reader, e *Exchange, brought []IntroducedItem) error {
	var calls []CallRow
	for i := range brought {
		b := &brought[i]
		if b.Item.Kind != ToolResult || b.Tool != "" || b.Item.CallID == "" || e.Link.Parent == "" {
			continue
		}
		if calls == nil {
			var err error
			if calls, err = r.Calls(ctx, []string{e.Link.Parent}); err != nil {
				return err
			}
		}
		if k := slices.IndexFunc(calls, func(c CallRow) bool { return c.CallID == b.Item.CallID }); k >= 0 {
			b.Tool = calls[k].Name
		}
	}
	return nil
}
