package view

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// ErrBadQuery means that a search contains an invalid filter.
var ErrBadQuery = errors.New("not a filter")

// FilterWords are the filters of a search with their values.
var FilterWords = [][2]string{
	{"model:NAME", "the asked or answered model's name holds NAME"},
	{"tool:NAME", "calls and results of tools whose name holds NAME"},
	{"run:r12", "exchanges of that run; also run:last"},
	{"status:429", "the exchange's HTTP status; also 4xx"},
	{"outcome:http_error", "how the exchange ended"},
	{"after:2026-03-01", "exchanges since then; also 2026-03-01T15:04, RFC 3339, or 2h, 7d ago"},
	{"before:2026-03-01", "exchanges before then"},
	{"is:error", "tool results that are errors, and failures"},
}

// outcomes are the values of outcome:.
var outcomes = []transcript.Outcome{transcript.OK, transcript.HTTPError, transcript.StreamError, transcript.UpstreamReset,
	transcript.ClientDisconnect, transcript.RecorderCrashed, transcript.RecorderStopped, transcript.InProgress}

// ParseQuery parses the text of a search. Words such as tool:bash are filters; the
// rest is searched for literally. It returns ErrBadQuery if a word looks like a
// filter and is none.
func ParseQuery(text string, now time.Time) (transcript.SearchQuery, error) {
	var q transcript.SearchQuery
	var rest strings.Builder
	given := map[string]bool{}
	for len(text) > 0 {
		end := strings.IndexAny(text, " \t\n")
		if end < 0 {
			end = len(text)
		}
		name, value, ok := filterWord(text[:end])
		if !ok {
			end = min(end+1, len(text))
			rest.WriteString(text[:end])
			text = text[end:]
			continue
		}
		err := setFilter(&q, name, value, now)
		if err == nil && given[name] {
			err = fmt.Errorf("there is a %s: already", name)
		}
		if err != nil {
			return q, fmt.Errorf("%q: %w: %w", name+":"+value, ErrBadQuery, err)
		}
		given[name] = true
		text = strings.TrimLeft(text[end:], " \t\n")
	}
	if q.Text = rest.String(); len(given) > 0 {
		q.Text = strings.TrimSpace(q.Text)
	}
	if given["after"] && given["before"] && !q.After.Before(q.Before) {
		return q, fmt.Errorf("%w: after is not earlier than before", ErrBadQuery)
	}
	return q, nil
}

// filterWord reports whether a word has the form of a filter. Likely texts do not:
// http://…, std::string, C:\.
func filterWord(word string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(word, ":")
	if !ok || len(name) < 2 || value == "" || strings.ContainsAny(value[:1], `/:\`) {
		return "", "", false
	}
	for _, c := range name {
		if c < 'a' || c > 'z' {
			return "", "", false
		}
	}
	return name, value, true
}

func setFilter(q *transcript.SearchQuery, name, value string, now time.Time) (err error) {
	switch name {
	case "model":
		q.Model = value
	case "tool":
		q.Tool = value
	case "run":
		q.Run = value
	case "status":
		q.Status, err = parseStatus(value)
	case "outcome":
		q.Outcome, err = oneOf(transcript.Outcome(value), outcomes)
	case "after":
		q.After, err = parseTime(value, now)
	case "before":
		q.Before, err = parseTime(value, now)
	case "is":
		if q.Errors = value == "error"; !q.Errors {
			err = errors.New("want is:error")
		}
	default:
		err = fmt.Errorf("filters are %s", namesOf(FilterWords))
	}
	return err
}

// oneOf rejects a value that is not in a list.
func oneOf[T comparable](value T, list []T) (T, error) {
	if !slices.Contains(list, value) {
		words := make([]string, len(list))
		for i, v := range list {
			words[i] = fmt.Sprint(v)
		}
		return value, fmt.Errorf("want one of %s", strings.Join(words, ", "))
	}
	return value, nil
}

func parseStatus(s string) ([2]int, error) {
	if n, err := strconv.Atoi(s); err == nil && n > 0 && n < 1000 {
		return [2]int{n, n}, nil
	}
	if len(s) == 3 && s[0] >= '1' && s[0] <= '5' && strings.EqualFold(s[1:], "xx") {
		n := int(s[0]-'0') * 100
		return [2]int{n, n + 99}, nil
	}
	return [2]int{}, errors.New("want a status such as 429 or 4xx")
}

func parseTime(s string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 1e5 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, errors.New("want a time such as 2026-03-01, 2026-03-01T15:04, or how long ago: 2h, 7d")
}
