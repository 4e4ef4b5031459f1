package view

import (
	"cmp"
	"encoding/json"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

func argumentsOf(it *transcript.Item) []byte {
	if it.ArgumentsRaw == "" {
		return []byte("{}")
	}
	return []byte(cmp.Or(string(it.Arguments), it.ArgumentsRaw))
}

// diffArguments compares arguments as JSON, or as texts if they are not JSON.
func diffArguments(a, b *transcript.Item) []analysis.Difference {
	x, y := argumentsOf(a), argumentsOf(b)
	list, ok := analysis.DiffJSON(x, y)
	if !ok && string(x) != string(y) {
		return []analysis.Difference{{At: "", Was: quoted(x), Now: quoted(y)}}
	}
	return list
}

// quoted returns a JSON value unchanged and any other text as a JSON string.
func quoted(text []byte) json.RawMessage {
	if rawjson.Valid(text) {
		return text
	}
	q, err := json.Marshal(string(text))
	if err != nil {
		return nil
	}
	return q
}

func diffResults(a, b *transcript.Item, exact bool) *ResultDiff {
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil || b == nil:
		return &ResultDiff{WasMissing: a == nil, NowMissing: b == nil, WasError: a != nil && a.IsError, NowError: b != nil && b.IsError}
	}
	r := &ResultDiff{WasError: a.IsError, NowError: b.IsError}
	if alikeTexts(a, b, exact) {
		return r.unlessEqual()
	}
	if isContainer(a.Text) && isContainer(b.Text) {
		if values, ok := analysis.DiffJSON([]byte(a.Text), []byte(b.Text)); ok {
			r.Values = values
			return r.unlessEqual()
		}
	}
	r.Text = analysis.DiffWords(a.Text, b.Text)
	return r.unlessEqual()
}

// alikeTexts reports whether two texts have no differences that count.
func alikeTexts(a, b *transcript.Item, exact bool) bool {
	if a.Text == b.Text {
		return true
	}
	steady := a.Kind == transcript.System || a.Kind == transcript.ToolResult
	return !exact && steady && analysis.Normalise(a.Text) == analysis.Normalise(b.Text)
}

func (r *ResultDiff) unlessEqual() *ResultDiff {
	if len(r.Text) == 0 && len(r.Values) == 0 && r.WasError == r.NowError {
		return nil
	}
	return r
}

// isContainer reports whether a text looks like a JSON object or array.
func isContainer(text string) bool {
	for _, c := range []byte(text) {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		}
		return c == '{' || c == '['
	}
	return false
}
