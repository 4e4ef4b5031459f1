package recorder

import "sync"

// smallBytes is what an exchange holds while it waits, pieceBytes what is relayed
// at once where much comes; flightBytes is the largest request body that is sent
// on in one piece when it comes in at once.
const (
	smallBytes  = 8 << 10
	pieceBytes  = 32 << 10
	flightBytes = 256 << 10
)

// bufferPool keeps buffers of these sizes.
type bufferPool struct {
	small, piece, flight sync.Pool
}

// get gives a buffer of at least that size, at most flightBytes.
func (p *bufferPool) get(size int64) []byte {
	switch {
	case size > pieceBytes:
		if b, ok := p.flight.Get().(*[flightBytes]byte); ok {
			return b[:]
		}
		return make([]byte, flightBytes)
	case size > smallBytes:
		if b, ok := p.piece.Get().(*[pieceBytes]byte); ok {
			return b[:]
		}
		return make([]byte, pieceBytes)
	}
	if b, ok := p.small.Get().(*[smallBytes]byte); ok {
		return b[:]
	}
	return make([]byte, smallBytes)
}

// put takes back what get gave. Nobody else may hold on to it.
func (p *bufferPool) put(b []byte) {
	switch cap(b) {
	case smallBytes:
		p.small.Put((*[smallBytes]byte)(b[:smallBytes]))
	case pieceBytes:
		p.piece.Put((*[pieceBytes]byte)(b[:pieceBytes]))
	case flightBytes:
		p.flight.Put((*[flightBytes]byte)(b[:flightBytes]))
	}
}
