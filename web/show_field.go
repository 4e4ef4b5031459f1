package web

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web/safehtml"
)

// field is one argument of a call.
type field struct {
	Name    string
	Value   value
	Literal bool // a number, an object …: not a string
}

// argument is a field as it was sent.
type argument struct {
	name string
	raw  json.RawMessage
}

// edits are pairs of arguments in which editing tools take the old text and the new
// one.
var edits = [][2]string{{"old_string", "new_string"}, {"oldText", "newText"}, {"old_str", "new_str"}, {"old", "new"}, {"old_text", "new_text"}, {"oldString", "newString"}}

const longestDifference = 32 << 10 // of an edit that is shown as one

// fields shows the arguments of a call one by one, in their order. It returns nil
// if they are not an object or too many.
func (b *budget) fields(arguments json.RawMessage, whole string) []field {
	dec := json.NewDecoder(bytes.NewReader(arguments))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var list []argument
	for dec.More() {
		name, err := dec.Token()
		if err != nil || len(list) == maxFields {
			return nil
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return nil
		}
		list = append(list, argument{name.(string), raw})
	}
	return b.shownFields(list, toldBy(arguments), whole)
}

// shownFields shows arguments. Two that are an edit of a text become one
// difference.
func (b *budget) shownFields(list []argument, t told, whole string) []field {
	var out []field
	for i := 0; i < len(list); i++ {
		if i+1 < len(list) {
			if f, ok := b.edit(list[i], list[i+1], whole); ok {
				out = append(out, f)
				i++
				continue
			}
		}
		out = append(out, b.field(list[i].name, list[i].raw, t, whole))
	}
	return out
}

// edit shows the old and the new text as a difference.
func (b *budget) edit(was, now argument, whole string) (field, bool) {
	var a, z string
	if !slices.Contains(edits, [2]string{was.name, now.name}) || json.Unmarshal(was.raw, &a) != nil || json.Unmarshal(now.raw, &z) != nil ||
		a == "" || z == "" || len(a)+len(z) > longestDifference {
		return field{}, false
	}
	v := value{Size: int64(len(a) + len(z)), Whole: whole, Code: true, Spans: analysis.DiffWords(a, z)}
	b.left -= len(v.Shown())
	_, lines, _, _ := moderate.limits()
	if strings.Count(a, "\n")+strings.Count(z, "\n") >= 2*lines {
		v.Folded, v.start = true, startOf(v.Spans, 600, 8)
	}
	return field{Name: "old → new", Value: v}, true
}

func (b *budget) field(name string, raw json.RawMessage, beside told, whole string) field {
	var text string
	if len(raw) > 2 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		form := safehtml.FormOf(transcript.Head(text, maxValue))
		if form == safehtml.Text {
			form = formOfArgument(name, text, beside)
		}
		v := b.formed(text, whole, moderate, form)
		v.Code = true
		return field{Name: name, Value: v}
	}
	return field{Name: name, Value: b.data(string(raw), whole, moderate), Literal: true}
}

// startOf returns the beginning of a difference.
func startOf(list []analysis.Span, bytes, lines int) []analysis.Span {
	var out []analysis.Span
	for _, s := range list {
		text := preview(s.Text, bytes, lines)
		out = append(out, analysis.Span{Fate: s.Fate, Text: text})
		bytes, lines = bytes-len(s.Text), lines-strings.Count(s.Text, "\n")
		if len(text) < len(s.Text) && (bytes <= 0 || lines <= 0) || lines <= 0 {
			return append(out, analysis.Span{Fate: analysis.Same, Text: "…"})
		}
	}
	return out
}
