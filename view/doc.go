// Package view defines what a reader sees: one struct for each page, which the
// commands print as a table or a transcript, --json prints as JSON and the web
// shows as HTML. A Row is an exchange in a list; an Exchange is one in full; a
// Transcript is its conversation, with each tool call next to its result.
//
// The JSON of these structs is public and stays stable.
package view
