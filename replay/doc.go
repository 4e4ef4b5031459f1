// Package replay runs a transcript again from an edited point.
//
// A transcript.Edit is a change to a recorded request. It is spliced into the
// recorded bytes: what it does not name is sent exactly as it was. A Request is what
// will be sent, and says which credential it still needs; recordings hold
// none. Sending goes through a recording transport, so that a take records
// itself like any other exchange.
package replay
