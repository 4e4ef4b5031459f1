package api

import (
	"encoding/json"
	"fmt"
)

// Rules say what an API asks of a request beyond what decoding needs. Package lint
// judges by them. The zero value asks nothing. Functions may be nil unless they say
// otherwise.
type Rules struct {
	// MaxTokens is the parameter that bounds the answer and must be there. "": none.
	MaxTokens string

	// Misnamed is a member that holds the conversation in another API, MisnamedText says
	// that it may be a text there. "": none.
	Misnamed     string
	MisnamedText bool

	// Held are parameters that refer to history or prompts that the provider holds.
	Held []string

	// ToolShape returns what is wrong with the declaration of a tool at a JSON pointer.
	ToolShape func(at string, tool []byte) (why string)

	// ToolChoice returns what is wrong with the form of tool_choice, and the tool that it
	// names.
	ToolChoice func(choice []byte) (name, why string)

	// TextItems says that an element of the history may be a text.
	TextItems bool

	// NoEmptyText says that a text block must not be empty.
	NoEmptyText bool

	// Unsupported returns why a part of a message or a result is not accepted.
	Unsupported func(model string, part []byte) (why string)

	// Call returns the JSON pointer, from a tool call's source, to its arguments and how
	// they are written. Arguments written as FreeText are not judged. Needed.
	Call func(call []byte) (pointer string, form Form)

	// BuiltIn reports whether a call is of a tool that need not be declared by name.
	BuiltIn func(call []byte) bool

	// BadID returns why a call id is refused, UniqueIDs says that each id may occur once.
	BadID     func(id string) (why string)
	UniqueIDs bool

	// ResultID is the member by which a result names its call. ByName reports whether a
	// result names its tool instead.
	ResultID string
	ByName   func(result []byte) bool

	// Content returns the member that holds a result's value, "" if the result is not
	// judged. Needed. NoContent says that the member may be absent.
	Content   func(result []byte) string
	NoContent bool

	// ForeignPart reports whether a part of a result belongs to another API by its type.
	ForeignPart func(kind string) bool

	// ResultsAnywhere says that a result need not follow its call at once,
	// ResultsTogether that the results of one answer belong into one message.
	ResultsAnywhere, ResultsTogether bool

	// ReasoningByID says that reasoning is sent back as an item with an id, together with
	// the item that it led to.
	ReasoningByID bool

	// Signature returns the signature of a reasoning item, and whether it needs one. Nil:
	// reasoning is not signed.
	Signature func(reasoning []byte) (signature string, needed bool)

	// KeepReasoning returns whether the reasoning of an answer with calls must come back.
	KeepReasoning func(parameters map[string]json.RawMessage) Need
}

// Need is how much something is needed.
type Need int

// The needs.
const (
	Optional Need = iota
	Wanted        // the answer gets worse without it
	Required      // the request is refused without it
)

// Quoted returns a text in quotes for a message, the beginning of a long one.
func Quoted(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
