// Package replay runs a transcript again from an edited point.
//
// A transcript.Edit is a change to a recorded request. It is spliced into the
// recorded bytes: what it does not name is sent exactly as it was. A Request is what
// will be sent, and says which credential it still needs; recordings hold
// none. Sending goes through a recording transport, so that a take records
// itself like any other exchange.
//
// A Player plays a take: it answers tool calls from Sources, among them the Tape,
// which holds the recorded results. A Sampler plays many takes of several arms and
// compares them. A Minimiser leaves out parts of a request and asks again: a unit is
// what goes as a whole, such as a call with its results; a candidate is the request
// with some of its parts.
package replay
