package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/dialect/chat"
	"github.com/retake-debugger/retake/dialect/messages"
	"github.com/retake-debugger/retake/dialect/responses"
	"github.com/retake-debugger/retake/transcript"
)

// APIs holds the APIs that are known. Nothing else has to be changed for a new one.
var APIs = api.List{&chat.API, &responses.API, &messages.API}

// Of returns the descriptor of a dialect. That of one that is not in the list has a
// name alone.
func Of(d transcript.Dialect) *API {
	if a := APIs.Of(d); a != nil {
		return a
	}
	return &API{Name: d}
}

// Known reports whether a dialect is in the list.
func Known(d transcript.Dialect) bool { return APIs.Of(d) != nil }

// Names returns the names of the APIs that are known.
func Names() []string {
	names := make([]string, len(APIs))
	for i, a := range APIs {
		names[i] = string(a.Name)
	}
	return names
}

// Listed joins the names for a sentence, such as "chat, responses or messages".
func Listed(and string) string { return listed(Names(), and) }

// Titles joins the titles for a sentence.
func Titles(and string) string {
	titles := make([]string, len(APIs))
	for i, a := range APIs {
		titles[i] = a.Title
	}
	return listed(titles, and)
}

func listed(words []string, and string) string {
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + and + " " + words[n]
}

// Ask writes a request for one answer of at most that many tokens.
func Ask(d transcript.Dialect, model, system, user string, tokens int) ([]byte, error) {
	a := APIs.Of(d)
	if a == nil {
		return nil, fmt.Errorf("ask model: unknown dialect %q", d)
	}
	return a.Ask(model, system, user, tokens)
}

// Error writes an error object as the API answers with it.
func Error(d transcript.Dialect, object []byte) []byte {
	if a := APIs.Of(d); a != nil {
		return a.Error(object)
	}
	return api.PlainError(object)
}

// IsHistory reports whether a member of a request holds the conversation in any API.
func IsHistory(member string) bool {
	return slices.ContainsFunc(APIs, func(a *API) bool { return a.Grows(member) })
}

// Arrays returns the names of the arrays that come again in later requests, in any API:
// first those that hold conversations, histories of them.
func Arrays() (names []string, histories int) {
	for _, history := range []bool{true, false} {
		for _, a := range APIs {
			for _, l := range a.Arrays {
				if l.History == history && !slices.Contains(names, l.Name) {
					names = append(names, l.Name)
				}
			}
		}
		if history {
			histories = len(names)
		}
	}
	return names, histories
}

// InHistory reports whether a JSON pointer into a request leads into the conversation.
func InHistory(pointer string) bool {
	member, _, ok := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	return ok && IsHistory(member)
}
