// Package history reads what is stored. All that shows, judges, compares, exports or
// sends a recorded exchange again reads it here.
//
// Body reads one side of an exchange as a whole, without its content encoding; Read
// reads both sides, Decode decodes them. A Reader reads the exchanges of a run
// one after the other: clients resend their history, so it reads requests segment by
// segment, reads each segment once, and remembers what it decoded.
//
// What is missing has one rule. Body returns what there is, and an error that wraps
// ErrOmitted, ErrTooLarge or ErrEncoding if that is not all that was sent; those who
// send a request again refuse it then. Those who show it use Available, which accepts
// these errors, because the exchange itself says what is missing (Omitted, Bytes,
// DecodeError). Bytes that the database has lost are transcript.ErrDamaged for both.
package history
