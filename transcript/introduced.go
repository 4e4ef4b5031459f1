package transcript

import (
	"context"
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"
)

// A Field is a text of an item that a search looks at.
type Field struct {
	Name string // "name", "call_id", "text", "arguments" or "raw"
	Text string // long runs of base64 are left out
}

// Fields gives what a search looks at. Arguments and source JSON are there as
// they came and, where they hold escapes, also with these undone, so that code
// in them is found as it is read.
func (it *Item) Fields() []Field {
	var fields []Field
	add := func(name, text string) {
		if text != "" {
			fields = append(fields, Field{name, WithoutBase64(text)})
		}
	}
	both := func(name, text string) {
		if strings.IndexByte(text, '\\') >= 0 {
			add(name, unescape(text))
		}
		add(name, text)
	}
	if it.Kind == ToolDefinition { // its name is in its source
		both("raw", string(it.Raw))
		return fields
	}
	add("text", it.Text)
	add("name", it.Name)
	both("arguments", it.ArgumentsRaw)
	add("call_id", it.CallID)
	if it.Kind == Other || it.Kind == ToolResult && len(it.Parts) > 0 {
		both("raw", string(it.Raw))
	}
	return fields
}

// IntroducedItem is an item that an exchange brought.
type IntroducedItem struct {
	Item *Item
	Body string // "request" or "response"
	Tool string // name of the tool that is called, defined or answers
}

// IsSetting tells whether an item is a setting rather than an event: what every
// exchange sends alike.
func (it *Item) IsSetting() bool { return it.Kind == System || it.Kind == ToolDefinition }

// Known holds what an exchange sent or got apart from the chain of its history:
// settings and reasoning, which the exchanges that continue it send again.
type Known map[Key]bool

// KnownOf gives what an exchange makes known to those that continue it.
func KnownOf(t *Turn) Known {
	k := Known{}
	for _, items := range [][]Item{t.Input, t.Output} {
		for i := range items {
			if !items[i].InChain() {
				k[SameKey(&items[i])] = true
			}
		}
	}
	return k
}

// SameKey is equal for items whose fields are, place and ids of their own aside.
func SameKey(it *Item) Key {
	h := sha256.New()
	for _, f := range append(it.Fields(), Field{"kind", string(it.Kind)}, Field{"role", it.Role}) {
		h.Write([]byte(strconv.Itoa(len(f.Text)) + f.Name))
		h.Write([]byte(f.Text))
	}
	return Key(h.Sum(nil)[:16])
}

// IntroducedBy lists the items that an exchange brought: what the history before,
// of which it shares so many chain items, did not hold; its output; and its
// failure, as an item of kind Failure. before is what the exchange that it
// continues made known.
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
		if key := SameKey(it); !before[key] && !known[key] {
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

// FailureItem shows a failure as an item.
func FailureItem(e *Error) *Item {
	var parts []string
	for _, p := range []string{e.Type, e.Code, e.Message} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return &Item{Kind: Failure, Text: strings.Join(parts, ": "), IsError: true, At: "/error"}
}

// toolOf gives the name of the tool that the last of these items is about, "" if
// it is about none or its call is not there.
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

// NameTools names the tools of results whose calls only the answer that an
// exchange continues holds.
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

// unescape undoes the escapes of JSON strings wherever they stand.
func unescape(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			r, n := escapedRune(s[i-1:])
			if n == 0 {
				b.WriteString(`\u`)
				break
			}
			b.WriteRune(r)
			i += n - 2
		default: // \" \\ \/
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// escapedRune reads \uXXXX, or two of them that are one character, and gives
// how long that is; 0 if it is neither.
func escapedRune(s string) (r rune, n int) {
	hex := func(s string) (rune, bool) {
		if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
			return 0, false
		}
		v, err := strconv.ParseUint(s[2:6], 16, 32)
		return rune(v), err == nil
	}
	r, ok := hex(s)
	if !ok {
		return 0, 0
	}
	if r >= 0xd800 && r < 0xdc00 {
		if low, ok := hex(s[6:]); ok && low >= 0xdc00 && low < 0xe000 {
			return 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), 12
		}
	}
	return r, 6 // half of a pair is written as U+FFFD
}
