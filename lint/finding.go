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
	Exchange string   `json:"exchange"` // id; "" of a request that is in no database
	Body     string   `json:"body"`     // "request" or "response": where At points
	At       string   `json:"at"`       // JSON pointer; "" for the whole body
	Offset   *int     `json:"offset"`   // character in the raw arguments; nil for other findings
	CallID   string   `json:"call_id"`
	Message  string   `json:"message"` // one sentence: what is wrong and what to do

	dropped bool           // what came later showed that it is none
	weigh   func(*Finding) // says at the end what it cost
}

// Bad tells whether any finding is more than information.
func Bad(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Severity != Info })
}

// Without gives the findings whose codes are not named.
func Without(findings []Finding, codes []string) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return slices.Contains(codes, f.Code) })
}

// spot is where an item stands.
type spot struct{ exchange, body, at string }

func (s spot) under(pointer string) spot {
	s.at += pointer
	return s
}

// characters turns an offset in bytes into one in characters.
func characters(s string, bytes int) int {
	return utf8.RuneCountInString(s[:min(bytes, len(s))])
}
