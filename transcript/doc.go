// Package transcript says what a transcript is: the nouns of Retake and the pure
// functions on them.
//
// An Exchange is one HTTP request and its response as seen on the wire. A dialect
// decodes it into a Turn, whose Items are the units of a transcript. A Pair is a
// tool call and its result, joined by call id within their conversation. A Link
// says which earlier exchange's history this one extends, and by what evidence. A
// Run is everything one task did: its agents take steps, and a step has one attempt,
// or several if requests failed and were sent again.
//
// A Matcher decides whether a search finds an item.
//
// The storage contract is here too: Store and the roles it is made of. Packages
// above use them without knowing which database implements them.
package transcript
