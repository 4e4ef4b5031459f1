package main

import (
	"math/rand/v2"
	"strings"
)

// text is prose without JSON escapes, from which bodies are cut. It is the same in
// each process.
type text string

const textBytes = 4 << 20

const vocabulary = `the agent reads a file and edits one line of it then runs the test sees that it fails with an error in
package server because handler returns before body was closed so connection cannot be reused while context is done
func return range error string byte slice map channel struct interface pointer value index buffer reader writer length
result tool call argument path directory command output expected actual want got at on by from into over under after
please check why this happens only when many requests arrive together and what would be needed to make sure that no
answer gets lost even if process stops between two writes or disk has no space left for another page of log records`

func newText() text {
	words := strings.Fields(vocabulary)
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.Grow(textBytes + 16)
	for b.Len() < textBytes {
		// Few words are frequent, as in real prose.
		n := int(float64(len(words)) * r.Float64() * r.Float64())
		b.WriteString(words[n])
		switch r.IntN(24) {
		case 0:
			b.WriteString(". ")
		case 1:
			b.WriteString(", ")
		case 2:
			b.WriteByte("0123456789"[r.IntN(10)])
			b.WriteByte(' ')
		default:
			b.WriteByte(' ')
		}
	}
	return text(b.String()[:textBytes])
}

// cut returns n bytes from any place.
func (t text) cut(place uint64, n int) string {
	at := int(place % uint64(len(t)-n))
	return string(t[at : at+n])
}
