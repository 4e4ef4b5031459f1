package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Predicate says what is looked at in a take: whether something happened. It is named
// before anything is sent.
type Predicate struct {
	Name  string
	Mode  transcript.TakeMode // how far a take has to go for it
	Holds func(ctx context.Context, t *Take) (bool, error)
}

// ByText is the label of an answer that calls no tool.
const ByText = "(answers with text)"

// Label names what an answer does next: the tools that it calls, each with its
// canonical arguments. Call ids, text and reasoning do not count.
func Label(t *transcript.Turn) string {
	return label(t, func(it *transcript.Item) string {
		arguments := it.ArgumentsRaw
		if c, err := rawjson.Canonical(it.Arguments); err == nil {
			arguments = string(c)
		}
		return it.Name + " " + arguments
	})
}

// ToolLabel names the tools that an answer calls.
func ToolLabel(t *transcript.Turn) string {
	return label(t, func(it *transcript.Item) string { return it.Name })
}

func label(t *transcript.Turn, name func(*transcript.Item) string) string {
	var calls []string
	for i := range t.Output {
		if it := &t.Output[i]; IsOwnCall(it) {
			calls = append(calls, name(it))
		}
	}
	if calls == nil {
		return ByText
	}
	return strings.Join(calls, " + ")
}

// IsOwnCall reports whether an item is a call that the client runs, of the first choice.
func IsOwnCall(it *transcript.Item) bool {
	return it.Kind == transcript.ToolCall && !it.ServerSide && it.Choice == 0
}

// First returns the answer of the first step, nil if there is none.
func (t *Take) First() *transcript.Turn {
	if len(t.Turns) == 0 {
		return nil
	}
	return t.Turns[0]
}

// SameAsRecorded looks whether the next answer does what the recorded one did. Where
// that one failed, it looks whether a tool is called.
func SameAsRecorded(recorded *transcript.Turn) Predicate {
	if recorded == nil || recorded.Error != nil || len(recorded.Output) == 0 {
		return Predicate{Name: "the next answer calls a tool", Mode: transcript.Once, Holds: func(_ context.Context, t *Take) (bool, error) {
			return t.First() != nil && ToolLabel(t.First()) != ByText, nil
		}}
	}
	want := Label(recorded)
	name := "the next answer is, as recorded, " + want
	if want == ByText {
		name = "the next answer is, as recorded, text"
	}
	return Predicate{Name: name, Mode: transcript.Once, Holds: func(_ context.Context, t *Take) (bool, error) {
		return t.First() != nil && Label(t.First()) == want, nil
	}}
}

// CallsTool looks whether the next answer calls a tool of that name, with
// arguments that hold all that subset holds; nil for any arguments.
func CallsTool(name string, subset json.RawMessage) (Predicate, error) {
	look := Predicate{Name: "the next answer calls " + name, Mode: transcript.Once}
	var want any
	if subset != nil {
		if err := json.Unmarshal(subset, &want); err != nil {
			return look, fmt.Errorf("read expected arguments: %w", err)
		}
		look.Name += " with " + string(subset)
	}
	look.Holds = func(_ context.Context, t *Take) (bool, error) {
		if t.First() == nil {
			return false, nil
		}
		return slices.ContainsFunc(t.First().Output, func(it transcript.Item) bool {
			if !IsOwnCall(&it) || it.Name != name {
				return false
			}
			var got any
			return subset == nil || json.Unmarshal(it.Arguments, &got) == nil && holds(got, want)
		}), nil
	}
	return look, nil
}

// holds reports whether a JSON value has all that another one has: the members of
// objects, the elements of arrays in their places.
func holds(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		for name, v := range want {
			inner, has := object[name]
			ok = ok && has && holds(inner, v)
		}
		return ok
	case []any:
		list, ok := got.([]any)
		ok = ok && len(list) == len(want)
		for i := 0; ok && i < len(want); i++ {
			ok = holds(list[i], want[i])
		}
		return ok
	}
	return got == want
}

// TextMatches looks whether the last answer of a take holds a match.
func TextMatches(expr *regexp.Regexp) Predicate {
	return Predicate{Name: "the final text matches " + expr.String(), Mode: transcript.Continue, Holds: func(_ context.Context, t *Take) (bool, error) {
		return expr.MatchString(t.FinalText), nil
	}}
}

// RecordedAnswer decodes the answer of a recorded exchange, nil if it did not end
// well or cannot be read.
func RecordedAnswer(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*transcript.Turn, error) {
	if e.Outcome != transcript.OK || !e.Complete {
		return nil, nil
	}
	turn, err := history.DecodeAnswer(ctx, r, e)
	if unreadable(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read recorded answer: %w", err)
	}
	return turn, nil
}
