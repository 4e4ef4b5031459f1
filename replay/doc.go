// Package replay runs a recorded step again with something changed.
//
// A replay goes like this:
//
//   - A [Plan] is filled by flags, by a form or by Go code: what is sent again, the edits,
//     the model and server, where tool results come from, the limits, and for a comparison
//     how many takes are played and what is looked for.
//   - [Plan.Prepare] works it out. It reads the recorded request once, finds the calls that
//     are edited by a part of their ids, makes the edits, converts the request where
//     another API is asked, and checks it with lint. Nothing is sent yet. A [Ready] says
//     what would be: its requests, their edits and losses, what would be refused, which
//     keys are missing ([Ready.SetKeys]) and what it is likely to cost ([Ready.Estimate]),
//     so that a person can agree to it.
//   - [Ready.Play] plays one take. A comparison hands its arms to package sample, a search
//     for the smallest request goes to package minimise. Each take is recorded and stored
//     as it happens.
//   - A [Take] reports what came of it.
//
// A transcript.Edit is spliced into the recorded bytes: what no edit names is sent exactly
// as it was recorded. A [Request] is what will be sent, and knows which credential it
// needs; recordings hold none. It goes out through a recording transport, so that a take
// records itself like any other exchange.
//
// A [Player] answers the tool calls of a take from [Source] values: edits, the recorded
// results, a tool that really runs (package tool), a person or a model. It asks them in the
// order of the plan; the first one that has a result gives it (source.go).
package replay
