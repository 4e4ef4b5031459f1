package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// ListQuery is the filter of a list of runs or of exchanges.
type ListQuery struct {
	Model   string
	Dialect transcript.Dialect
	Outcome transcript.Outcome
	Tool    string
	Tag     string
	Since   time.Time
	Pinned  bool
}

// ListWords are the filters of a list of runs with their values.
var ListWords = [][2]string{
	{"model:NAME", "the asked or answered model's name holds NAME"},
	{"dialect:chat", "of one API: chat, responses, messages, unknown"},
	{"outcome:http_error", "where an exchange ended so"},
	{"tool:NAME", "runs that called a tool whose name holds NAME"},
	{"tag:NAME", `runs with that tag; one of several words as tag:"a b"`},
	{"since:2h", "what happened since: 2h, 7d, 2026-03-01; also after:"},
	{"is:pinned", "runs that are pinned"},
}

// ExchangeWords returns the filters of a list of exchanges.
func ExchangeWords() [][2]string {
	return slices.DeleteFunc(slices.Clone(ListWords), func(f [2]string) bool {
		return slices.Contains([]string{"tool:NAME", "tag:NAME", "is:pinned"}, f[0])
	})
}

// ParseListQuery parses the filters of a list. It returns ErrBadQuery if a word is
// no filter or occurs twice.
func ParseListQuery(text string, now time.Time) (ListQuery, error) {
	var q ListQuery
	given := map[string]bool{}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeft(text, " \t\n") {
		var word string
		word, text = cutWord(text)
		name, value, ok := filterWord(word)
		if want := begins(ListWords, word); !ok && want != "" {
			return q, fmt.Errorf("%q: %w: nothing stands behind it, want something like %s", word, ErrBadQuery, want)
		} else if !ok {
			return q, fmt.Errorf("%q: %w; filters are %s", word, ErrBadQuery, namesOf(ListWords))
		}
		err := q.Set(name, unquoted(value), now)
		if err == nil && given[name] {
			err = fmt.Errorf("there is a %s: already", name)
		}
		if err != nil {
			return q, fmt.Errorf("%q: %w: %w", word, ErrBadQuery, err)
		}
		given[name] = true
	}
	return q, nil
}

// cutWord cuts off the first word. White space between quotes is part of it.
func cutWord(text string) (word, rest string) {
	quoted := false
	for i, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ' ' || c == '\t' || c == '\n'):
			return text[:i], text[i:]
		}
	}
	return text, ""
}

func unquoted(value string) string {
	if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}

// Set adds one filter.
func (q *ListQuery) Set(name, value string, now time.Time) (err error) {
	switch name {
	case "model":
		q.Model = value
	case "tool":
		q.Tool = value
	case "tag":
		q.Tag = value
	case "dialect":
		var name string
		name, err = oneOf(value, append(dialect.Names(), string(transcript.Unknown)))
		q.Dialect = transcript.Dialect(name)
	case "outcome":
		q.Outcome, err = oneOf(transcript.Outcome(value), outcomes)
	case "since", "after":
		q.Since, err = parseTime(value, now)
	case "is":
		if q.Pinned = value == "pinned"; !q.Pinned {
			err = errors.New("want is:pinned")
		}
	default:
		err = fmt.Errorf("filters are %s", namesOf(ListWords))
	}
	return err
}

// begins returns the filter that starts with a word, "" if there is none.
func begins(words [][2]string, word string) string {
	for _, f := range words {
		if strings.HasSuffix(word, ":") && strings.HasPrefix(f[0], word) {
			return f[0]
		}
	}
	return ""
}

// namesOf lists filters: by name, or in full if there is only one value.
func namesOf(words [][2]string) string {
	var list []string
	for _, f := range words {
		name, value, _ := strings.Cut(f[0], ":")
		if name == "is" {
			name += ":" + value
		}
		list = append(list, name)
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

// Word formats a filter as a user would type it.
func Word(name, value string) string {
	if strings.ContainsAny(value, " \t\n") {
		value = `"` + value + `"`
	}
	return name + ":" + value
}

// Runs returns the filter for runs.
func (q *ListQuery) Runs() transcript.RunFilter {
	return transcript.RunFilter{Model: q.Model, Dialect: q.Dialect, Outcome: q.Outcome, Tool: q.Tool, Tag: q.Tag, Since: q.Since, Pinned: q.Pinned}
}

// Exchanges returns the filter for exchanges; ErrBadQuery if a word applies only to
// runs.
func (q *ListQuery) Exchanges() (transcript.Filter, error) {
	if q.Tool != "" || q.Tag != "" || q.Pinned {
		return transcript.Filter{}, fmt.Errorf("tool:, tag: and is:pinned narrow a list of runs, %w of exchanges", ErrBadQuery)
	}
	return transcript.Filter{Model: q.Model, Dialect: q.Dialect, Outcome: q.Outcome, Since: q.Since}, nil
}
