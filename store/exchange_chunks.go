package store

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/retake-debugger/retake/store/varint"
	"github.com/retake-debugger/retake/transcript"
)

var errChunks = errors.New("stored chunks are damaged")

// packChunks writes for each chunk how far it is from the one before: offset in
// bytes, time in microseconds.
func packChunks(chunks []transcript.Chunk) any {
	if len(chunks) == 0 {
		return nil
	}
	out := make([]byte, 0, 5*len(chunks))
	var offset, at int64
	for _, c := range chunks {
		out = binary.AppendVarint(out, c.Offset-offset)
		out = binary.AppendVarint(out, c.At.Microseconds()-at)
		offset, at = c.Offset, c.At.Microseconds()
	}
	return out
}

func unpackChunks(packed []byte) ([]transcript.Chunk, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	chunks := make([]transcript.Chunk, 0, len(packed)/4)
	v := varint.Reader{B: packed}
	var offset, at int64
	for len(v.B) > 0 {
		offset += v.Int()
		at += v.Int()
		chunks = append(chunks, transcript.Chunk{Offset: offset, At: time.Duration(at) * time.Microsecond})
	}
	if v.Bad {
		return nil, errChunks
	}
	return chunks, nil
}
