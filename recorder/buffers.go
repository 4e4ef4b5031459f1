package recorder

import "sync"

// pieceBytes is how much is relayed at once; flightBytes is the largest request
// body that is sent on in one piece when it comes in at once.
const (
	pieceBytes  = 32 << 10
	flightBytes = 256 << 10
)

// bufferPool keeps buffers of these two sizes.
type bufferPool struct {
	piece, flight sync.Pool
}

// get gives a buffer of at least that size, at most flightBytes.
func (p *bufferPool) get(size int64) []byte {
	if size > pieceBytes {
		if b, ok := p.flight.Get().(*[flightBytes]byte); ok {
			return b[:]
		}
		return make([]byte, flightBytes)
	}
	if b, ok := p.piece.Get().(*[pieceBytes]byte); ok {
		return b[:]
	}
	return make([]byte, pieceBytes)
}

// put takes back what get gave. Nobody else may hold on to it.
func (p *bufferPool) put(b []byte) {
	switch cap(b) {
	case pieceBytes:
		p.piece.Put((*[pieceBytes]byte)(b[:pieceBytes]))
	case flightBytes:
		p.flight.Put((*[flightBytes]byte)(b[:flightBytes]))
	}
}
