package lint

import (
	"slices"
	"unicode/utf8"
)

// Severity says how bad a finding is.
type Severity string

// The severities, worst first.
const (
	Error   Severity = "error"   // refused by a provider, now or when sent back, or a call cut off
	Warning Severity = "warning" // harms or costs
	Info    Severity = "info"    // good to know
)

// Finding is one thing that is wrong or odd.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Exchange string   `json:"exchange"` // id; "" for a request that is not in a database
	Body     string   `json:"body"`     // "request" or "response": where At points
	At       string   `json:"at"`       // JSON pointer; "" for the whole body
	Offset   *int     `json:"offset"`   // character in the raw arguments; nil for other findings
	CallID   string   `json:"call_id"`
	Message  string   `json:"message"` // one sentence: what is wrong and what to do

	dropped bool           // later items showed that it is not one
	weigh   func(*Finding) // adds what it cost, once the run was read
}

// Bad reports whether any finding is more than information.
func Bad(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Severity != Info })
}

// Without returns the findings whose codes are not named.
func Without(findings []Finding, codes []string) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return slices.Contains(codes, f.Code) })
}

// spot is the place of an item.
type spot struct{ exchange, body, at string }

func (s spot) under(pointer string) spot {
	s.at += pointer
	return s
}

// characters converts an offset in bytes into one in characters.
func characters(s string, bytes int) int {
	return utf8.RuneCountInString(s[:min(bytes, len(s))])
}
