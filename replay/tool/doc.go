// Package tool answers the calls of a take with tools that really run: a command, a
// URL, or an MCP server. Nothing of it is used unless somebody named it. Each is a
// replay.Source.
//
// A tool gets the arguments of the call as JSON. What it says is the result; that it
// failed is a result too, an error, since the model is to see it. How long it may
// take and how much it may say is bounded.
package tool

import "time"

const (
	// DefaultTimeout is how long a tool may take if nothing else is said.
	DefaultTimeout = 2 * time.Minute
	// MostOutput bounds what a tool may say, in bytes. The rest is left out, which
	// the result says.
	MostOutput = 1 << 20
)
