package decode

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// pieceSize is how a body that is not decoded is cut.
const pieceSize = 1 << 20

// cannotRead begins the decode error of a body that the recorder could not give
// back.
const cannotRead = "read recorded body"

func unreadable(decodeError string) bool { return strings.HasPrefix(decodeError, cannotRead) }

// pieces is a body cut into the segments it is stored by: in memory with the
// ends of its segments, or, too large for that, read from its source when it is
// stored.
type pieces struct {
	source transcript.CapturedBody
	body   []byte
	cuts   []int
	marks  []dialect.Mark // of the segments, if they are known
	failed error          // why the source could not be read to its end
}

// readPieces reads one side. What cannot be read is missing, and said.
func (c *Decoder) readPieces(b transcript.CapturedBody, m *transcript.Message) pieces {
	p := pieces{}
	switch {
	case b == nil || b.Size() == 0:
	case b.Size() > maxDecode:
		p.source = b
		m.DecodeError = fmt.Sprintf("not decoded: the body has %d bytes, more than %d", b.Size(), maxDecode)
		return p
	default:
		p.body = c.buffers.take(int(b.Size()))
		p.read(b, m)
	}
	return p
}

func (p *pieces) read(b transcript.CapturedBody, m *transcript.Message) {
	r, err := b.Open()
	n := 0
	if err == nil {
		defer r.Close()
		n, err = io.ReadFull(r, p.body)
	}
	p.body = p.body[:n]
	if err != nil {
		p.failed = err
		m.DecodeError = fmt.Sprintf("%s: %v", cannotRead, err)
	}
}

// store stores the segments. It fails only for the store's own reasons.
func (p *pieces) store(tx transcript.BodyWriter, m *transcript.Message) (transcript.BodyID, error) {
	if p.source == nil {
		return tx.PutSegments(p.inMemory())
	}
	return p.storeLarge(tx, m)
}

// storeLarge reads, measures and stores at once.
func (p *pieces) storeLarge(tx transcript.BodyWriter, m *transcript.Message) (transcript.BodyID, error) {
	h := sha256.New()
	m.Bytes, p.failed = 0, nil
	id, err := tx.PutBody(func(yield func([]byte, error) bool) {
		r, err := p.source.Open()
		if err != nil {
			p.failed = err
			return
		}
		defer r.Close()
		for buf := make([]byte, pieceSize); ; {
			n, err := io.ReadFull(r, buf)
			h.Write(buf[:n])
			m.Bytes += int64(n)
			if n > 0 && !yield(buf[:n], nil) {
				return
			}
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					p.failed = err
				}
				return
			}
		}
	})
	m.SHA256 = hex.EncodeToString(h.Sum(nil))
	if p.failed != nil {
		m.DecodeError = fmt.Sprintf("%s: %v", cannotRead, p.failed)
	}
	return id, err
}

func (p *pieces) inMemory() iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		start := 0
		for i, end := range p.cuts {
			if end == start {
				continue
			}
			piece := transcript.Segment{Bytes: p.body[start:end]}
			if i < len(p.marks) && p.marks[i] != (dialect.Mark{}) {
				piece.Same = p.marks[i]
			}
			if !yield(piece, nil) {
				return
			}
			start = end
		}
		if start < len(p.body) {
			yield(transcript.Segment{Bytes: p.body[start:]}, nil)
		}
	}
}
