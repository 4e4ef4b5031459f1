// Package lint judges requests and runs by the protocol of their dialect. It
// reads what was decoded and nothing else: the answer's status is never
// consulted, so that a finding is there before a provider says no, and also
// where one lets pass what another refuses.
//
// Words used here:
//
//   - A Finding is one thing that is wrong or odd, at one place, with what to do.
//   - A Code names a kind of finding and explains it. Codes lists them all.
//   - error means that a provider refuses it, now or when it is sent back, or
//     that a call was cut off. What harms or costs is a warning, the rest info.
//   - A Step is an exchange of a run, or one alone.
//   - A Judge goes along the steps of a run and looks at each item once: where a
//     request resends history, at what is new in it. A history is what it knows
//     of one line of them.
//   - A round is the calls of one answer, a batch if there are several. A round
//     is closed when its dialect takes no more results for it.
package lint
