// Package api is what the folders of the APIs share: the descriptor that each of them
// fills, the framework that decodes, remembers and edits by it, and helpers.
package api

// Wire is one exchange's bytes, content encodings undone.
type Wire struct {
	Method         string
	URL            string // URL or request target
	RequestHeader  map[string][]string
	ResponseHeader map[string][]string
	Status         int
	Request        []byte
	Response       []byte
}
