// Package lint judges requests and runs by the rules of their API. It reads only
// decoded turns. It does not look at the status of the answer: a finding is there
// before a provider refuses a request, and also where one provider accepts what
// another refuses.
//
// Words used here:
//
//   - A Finding is one thing that is wrong or odd, at one place, with advice.
//   - A Code names and explains a kind of finding. Codes returns all of them.
//   - An error is what a provider refuses, now or when it is sent back, or a call
//     that was cut off. A warning is what harms or costs. The rest is info.
//   - A Step is an exchange of a run, or one alone.
//   - A Judge reads the steps of a run and judges each item once: of a request that
//     resends history, only what is new. A history is what it knows of one sequence
//     of steps.
//   - A round is the calls of one answer, a batch if there are several. A round is
//     closed when its API accepts no more results for it.
package lint
