package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// List holds the APIs that are known. Nothing else has to be changed for a new one.
var List = []*API{&chatAPI, &responsesAPI, &messagesAPI}

// Of returns the descriptor of a dialect. That of one that is not in the list has a
// name alone.
func Of(d transcript.Dialect) *API {
	if a := of(d); a != nil {
		return a
	}
	return &API{Name: d}
}

// Known reports whether a dialect is in the list.
func Known(d transcript.Dialect) bool { return of(d) != nil }

// Names returns the names of the APIs that are known.
func Names() []string {
	names := make([]string, len(List))
	for i, a := range List {
		names[i] = string(a.Name)
	}
	return names
}

// Listed joins the names for a sentence, such as "chat, responses or messages".
func Listed(and string) string { return listed(Names(), and) }

// Titles joins the titles for a sentence.
func Titles(and string) string {
	titles := make([]string, len(List))
	for i, a := range List {
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
	a := of(d)
	if a == nil {
		return nil, fmt.Errorf("ask model: unknown dialect %q", d)
	}
	return a.Ask(model, system, user, tokens)
}

// Error writes an error object as the API answers with it.
func Error(d transcript.Dialect, object []byte) []byte {
	if a := of(d); a != nil {
		return a.Error(object)
	}
	return plainError(object)
}

// IsHistory reports whether a member of a request holds the conversation in any API.
func IsHistory(member string) bool {
	return slices.ContainsFunc(List, func(a *API) bool { return a.grows(member) })
}

// InHistory reports whether a JSON pointer into a request leads into the conversation.
func InHistory(pointer string) bool {
	member, _, ok := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	return ok && IsHistory(member)
}

// of returns the descriptor of a dialect, nil for transcript.Unknown and any other
// name that is not in the list.
func of(d transcript.Dialect) *API {
	for _, a := range List {
		if a.Name == d {
			return a
		}
	}
	return nil
}
