// Package effect says whether an edit did anything: pure statistics on counts.
//
// An Arm counts how often something happened among the takes of one kind: those
// with the edit, or those of the control without it. Compare sets the two side by
// side:
//
//   - the Difference of the two shares,
//   - its interval, which holds the true difference in about 95 of 100 cases
//     (Newcombe's hybrid score interval),
//   - p, how likely a difference of that kind is where there is none (Fisher's
//     exact test, two-sided),
//   - a Verdict in words, and where it is open how many takes would settle it.
//
// One outcome has to be named before anything is sent. The others are looked at
// afterwards, and their p is corrected for there being several (Holm).
package effect
