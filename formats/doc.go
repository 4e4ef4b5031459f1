// Package formats writes transcripts as other people's tools read them, and
// reads theirs: one file for each format.
//
// Words used here:
//
//   - A Conversation is what one step saw and answered.
//   - A beat is one message of it, as most formats count them: a system prompt,
//     what a user says, or what an assistant says and calls together with the
//     results of these calls. Results stand behind their calls, in their order,
//     however they came.
//   - A Loss is what a format cannot carry. It is never dropped silently: every
//     writer counts its losses.
package formats
