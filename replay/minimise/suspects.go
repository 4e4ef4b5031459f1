package minimise

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// suspects ranks parts of a request by how likely they are to be what made the model
// do it. That only says what is tried first.
type suspects struct {
	parts *parts
	look  func(text string) bool // whether it holds what is looked for; may be nil
	said  []string               // values that the recorded answer has in common with few parts
	found map[string]bool        // pointers at which lint found something
}

// Scores of a suspect.
const (
	holdsLook   = 8 // it says what is looked for
	holdsAnswer = 6 // it says what the answer says, and few others do
	failed      = 4 // a tool failed
	faulty      = 4 // lint has something to say
	isLast      = 2 // the last results, the last words of a user

	suspicious = 4
)

func (p *parts) suspects(look func(string) bool, recorded *transcript.Turn) *suspects {
	s := &suspects{parts: p, look: look, found: map[string]bool{}}
	turn := p.turn
	for _, f := range lint.Exchange(lint.Step{Exchange: &transcript.Exchange{Dialect: p.speaks}, Turn: turn}, nil) {
		if f.Severity != lint.Info && f.At != "" {
			s.found[f.At] = true
		}
	}
	if recorded != nil {
		s.said = rare(valuesOf(recorded), turn.Input)
	}
	return s
}

const (
	leastValue = 4   // shorter values are everywhere
	mostValue  = 400 // longer ones are nowhere
	mostValues = 200
)

// valuesOf returns what an answer says: the values of its arguments, the words of its
// text that look like names.
func valuesOf(t *transcript.Turn) []string {
	var list []string
	add := func(v string) {
		if v = strings.TrimSpace(v); len(v) >= leastValue && len(v) <= mostValue && len(list) < mostValues && !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			add(v)
			for _, word := range strings.Fields(v) {
				add(word)
			}
		case json.Number:
			add(v.String())
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		case map[string]any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	for i := range t.Output {
		it := &t.Output[i]
		if !replay.IsOwnCall(it) {
			continue
		}
		add(it.Name)
		var v any
		d := json.NewDecoder(strings.NewReader(string(it.Arguments)))
		d.UseNumber()
		if it.Arguments != nil && d.Decode(&v) == nil {
			walk(v)
		} else {
			walk(it.ArgumentsRaw)
		}
	}
	for _, word := range strings.Fields(t.Text) {
		if strings.ContainsAny(word, "0123456789_/.") {
			add(strings.Trim(word, ".,;:()`'\"*"))
		}
	}
	return list
}

// rare leaves the values that some items of a request have, but few.
func rare(values []string, items []transcript.Item) []string {
	return slices.DeleteFunc(values, func(v string) bool {
		n, of := 0, 0
		for i := range items {
			if items[i].Kind == transcript.ToolDefinition {
				continue
			}
			of++
			if says(&items[i], v) {
				n++
			}
		}
		return n == 0 || n > max(2, of/10)
	})
}

func says(it *transcript.Item, v string) bool {
	return strings.Contains(it.Text, v) || strings.Contains(it.ArgumentsRaw, v)
}

// score rates an item.
func (s *suspects) score(it *transcript.Item) (n int) {
	if s.look != nil && (s.look(it.Text) || s.look(it.ArgumentsRaw)) {
		n += holdsLook
	}
	if slices.ContainsFunc(s.said, func(v string) bool { return says(it, v) }) {
		n += holdsAnswer
	}
	if it.IsError {
		n += failed
	}
	if s.found[it.At] {
		n += faulty
	}
	return n
}

// ranked orders units, those most suspected first, and returns how many are suspicious.
func (s *suspects) ranked(units []int) (order []int, suspected int) {
	scores := map[int]int{}
	last := len(s.parts.pieces) - 1
	for _, u := range units {
		for _, i := range s.parts.units[u] {
			n := s.score(s.parts.pieces[i].item)
			if i >= last-1 {
				n += isLast
			}
			scores[u] = max(scores[u], n)
		}
	}
	return rank(units, func(u int) int { return scores[u] })
}

func rank(list []int, score func(int) int) (order []int, suspected int) {
	order = slices.Clone(list)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score(b), score(a)) })
	for _, u := range order {
		if score(u) >= suspicious {
			suspected++
		}
	}
	return order, suspected
}

// scoreText rates a line.
func (s *suspects) scoreText(line string) (n int) {
	if s.look != nil && s.look(line) {
		n += holdsLook
	}
	if slices.ContainsFunc(s.said, func(v string) bool { return strings.Contains(line, v) }) {
		n += holdsAnswer
	}
	return n
}

// scoreTool rates a tool: those that were called, or are looked for.
func (s *suspects) scoreTool(it *transcript.Item, recorded *transcript.Turn) int {
	if s.look != nil && s.look(it.Name) {
		return holdsLook
	}
	if recorded != nil && slices.ContainsFunc(recorded.Output, func(o transcript.Item) bool { return replay.IsOwnCall(&o) && o.Name == it.Name }) {
		return holdsAnswer
	}
	return 0
}
