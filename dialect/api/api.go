package api

import (
	"slices"

	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// API is all that is known of one provider API. Functions that may be nil say what
// nil means; every other field is needed.
type API struct {
	Name  transcript.Dialect // as databases, flags and JSON have it
	Title string             // as people know it

	// Claim says whether an exchange is of this API by its request: its method, its path
	// (split at slashes, no empty parts) and its body.
	Claim func(w *Wire, path []string) Claim

	// IsAnswer reports whether a response object is of this API, IsEvent whether an
	// event of a stream is. They tell what came over a path that nobody knows.
	IsAnswer func(object []byte) bool
	IsEvent  func(data []byte) bool

	// Resembles says how much a request body without a path looks like this API: 0 not at
	// all, 1 perhaps, 2 has what no other API has.
	Resembles func(body []byte) int

	// Arrays are the members of a request whose values come again in later requests,
	// element by element: the conversation, the tools, the system prompt. A text may
	// stand in the place of a list.
	Arrays []Array

	// Decode returns what reads one exchange for r.
	Decode func(r *Reader) Decoder

	// Target reads what a request target names, such as an answer that is polled. It is
	// called for every exchange, whatever its API. Nil: nothing.
	Target func(r *Reader, path []string)

	// Layout says how what one answer holds lies in the history.
	Layout Layout

	// Arguments returns the JSON pointer, from a tool call's source, to its arguments and
	// how they are written; "" if v is no tool call.
	Arguments func(v []byte) (pointer string, form Form)

	// Result returns the member of a tool result's source that holds its value, "" if v
	// is no tool result.
	Result func(v []byte) string

	// ErrorMark is the member of a tool result that says that its tool failed, "" if the
	// API has none.
	ErrorMark string

	// System is the member that holds the system prompt, "" if it is a message. In
	// SystemList, unless it is "", messages of the roles system and developer are system
	// prompts as well.
	System, SystemList string

	// Append returns the elements by which an answer (a response object) and the results
	// of its calls continue a history, as a client writes them.
	Append func(response []byte, results []Result) ([][]byte, error)

	// Continue returns the edits that do so in a request. Nil: the elements are put at
	// the end of the history.
	Continue func(body, response []byte, results []Result) []rawjson.Edit

	// Held are the members by which a request goes on from history that the provider
	// holds. Nil: there are none.
	Held []string

	// Referable reports whether later requests can refer to an output item by its id
	// instead of sending it again. Nil: never.
	Referable func(t *transcript.Turn, it *transcript.Item) bool

	// Read reads a request into a draft, Write writes one. Whether a conversion between
	// two APIs loses something is said by both.
	Read  func(d *draft.Draft, body []byte)
	Write func(d *draft.Draft, out *rawjson.Object)

	// Limits bounds ids and names in requests of this API.
	Limits draft.Limits

	// Settings are the names that this API has for the parameters of a draft.
	Settings map[string]string

	// CachedParameters are parameters that are a part of what the provider caches.
	CachedParameters []string

	// UserFirst says that a conversation must begin with a user, ToolsForCalls that a
	// request with calls must declare a tool.
	UserFirst, ToolsForCalls bool

	// Path is where requests for an answer go, below the version; Home the provider
	// whose own API this is.
	Path string
	Home string

	// Sockets says that clients try a WebSocket at Path first.
	Sockets bool

	// Key says where a request carries its key, Headers what else it must have.
	Key     KeyPlace
	Headers map[string]string

	// Rules say what the API asks of a request beside its form.
	Rules Rules

	// Error writes an error object as the provider answers with it.
	Error func(object []byte) []byte

	// Ask writes a request for one answer of at most that many tokens.
	Ask func(model, system, user string, tokens int) ([]byte, error)
}

// Claim is what an API says of a request.
type Claim int

// The claims. Nobodys is a request to the provider's API that is no conversation, such as
// counting tokens.
const (
	NotMine Claim = iota
	Mine
	Nobodys
)

// Array is a member of a request whose elements come again.
type Array struct {
	Name    string
	History bool // it holds the conversation, and grows
}

// Layout says how what one answer holds lies in the history.
type Layout int

// The layouts.
const (
	Items   Layout = iota // each item is an element of its own
	Blocks                // items are parts of the content of one message
	Members               // calls and reasoning are members of a message, beside its content
)

// Form is how a call writes its arguments.
type Form int

// The forms.
const (
	JSONText Form = iota // JSON in a string
	FreeText             // any text in a string
	AsObject             // an object
)

// KeyPlace says where a request carries its key.
type KeyPlace struct {
	Header string
	Scheme string // before the key, e.g. "Bearer "
}

// History is the list that holds the conversation.
func (a *API) History() string {
	i := slices.IndexFunc(a.Arrays, func(l Array) bool { return l.History })
	if i < 0 {
		return ""
	}
	return a.Arrays[i].Name
}

// repeats reports whether a member's value comes again in later requests.
func (a *API) repeats(name []byte) bool {
	if a != nil {
		for i := range a.Arrays {
			if string(name) == a.Arrays[i].Name {
				return true
			}
		}
	}
	return false
}

// Grows reports whether a member holds the conversation.
func (a *API) Grows(name string) bool {
	return slices.Contains(a.Arrays, Array{name, true})
}

// Held reports whether a request has one of the members by which it goes on from
// history that the provider holds.
func Held(members []string, body []byte) bool {
	return slices.ContainsFunc(members, func(name string) bool { return rawjson.Present(rawjson.Get(body, name)) })
}

// List holds APIs. Its functions take any bytes of an exchange in any of them.
type List []*API

// Of returns the descriptor of a dialect, nil for transcript.Unknown and any other
// name that is not in the list.
func (l List) Of(d transcript.Dialect) *API {
	for _, a := range l {
		if a.Name == d {
			return a
		}
	}
	return nil
}
