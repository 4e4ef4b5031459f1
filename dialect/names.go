package dialect

import (
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/dialect/draft"
)

// The names that callers use. The types lie in dialect/api and dialect/draft, since the
// folders of the APIs, which this package imports, need them.
type (
	API      = api.API
	Wire     = api.Wire
	SSE      = api.SSE
	Event    = api.Event
	Memory   = api.Memory
	Reading  = api.Reading
	Mark     = api.Mark
	Result   = api.Result
	Growing  = api.Growing
	Form     = api.Form
	Need     = api.Need
	Loss     = draft.Loss
	LossCode = draft.LossCode
)

// What callers compare with.
const (
	Items   = api.Items
	Blocks  = api.Blocks
	Members = api.Members

	JSONText = api.JSONText
	FreeText = api.FreeText
	AsObject = api.AsObject

	Optional = api.Optional
	Wanted   = api.Wanted
	Required = api.Required

	HistoryMissing    = draft.HistoryMissing
	ToolNameRewritten = draft.ToolNameRewritten
	ParameterAdded    = draft.ParameterAdded
	ParameterDropped  = draft.ParameterDropped
)

// ElementAt splits the JSON pointer of an item of a request: the array that it lies in,
// and the index of its element there.
func ElementAt(at string) (member string, index int, ok bool) { return api.ElementAt(at) }

// The errors of edits.
var (
	ErrNoCall       = api.ErrNoCall
	ErrArguments    = api.ErrArguments
	ErrNoResult     = api.ErrNoResult
	ErrNoErrorMark  = api.ErrNoErrorMark
	ErrNoConversion = api.ErrNoConversion
)

// Quoted returns a text in quotes for a message, the beginning of a long one.
func Quoted(s string) string { return api.Quoted(s) }
