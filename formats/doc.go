// Package formats writes transcripts in the formats of other tools, and reads theirs:
// one file for each format.
//
// Words used here:
//
//   - A Conversation is what one step saw and answered.
//   - A beat is one message of it, as most formats count them: a system prompt, what a
//     user says, or what an assistant says and calls together with the results of
//     these calls. Results follow their calls, in the order of the calls.
//   - A loss is what a format cannot carry. Every writer counts its losses.
package formats
