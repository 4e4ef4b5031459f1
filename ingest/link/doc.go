// Package link finds the exchange whose history another one continues, and its run,
// agent and step.
//
// Evidence is tried from the strongest to the weakest (transcript.By…): what a user or
// a take said; what the provider holds (serverheld.go); the longest prefix of the
// input that ends with a recorded answer (history.go); a call or a final text of an
// answer that is repeated (repeatedcall.go); the history without call ids; a
// compaction or a hand-off, whose text contains the fingerprints of an answer
// (fingerprint.go). attempt.go then decides whether it is another attempt at a step,
// agents.go on run, agent and step, side.go on side calls, results.go which results
// answer which calls, and change.go how the step differs from the one before.
//
// An exchange is found by its nodes and by hints (hint.go): hashes of what it contains
// that later requests may repeat. A request that does not find what it continues leaves
// a pending link, a hint for what comes later (pending.go).
package link
