package recorder

// stage is a buffer in which frames wait to be written, and into which pieces
// of a body are read right where their frame will be, so that nothing is
// copied. One goroutine uses it at a time.
type stage struct {
	c       *capture
	buffers *bufferPool
	buf     []byte
	record  bool // whether there is still something to write for
	filled  bool // the last piece took all its room
}

// endReserve is the room that is kept behind a piece for the frame that ends
// the exchange.
const endReserve = 512

// minPiece is the least room that is worth a read, largePiece what there is where
// much comes at once.
const (
	minPiece   = 4 << 10
	largePiece = pieceBytes - frameHeaderBytes - endReserve
)

// grow sees to it that a piece of that size, and of minPiece at least, can be
// read behind what waits.
func (s *stage) grow(size int64) {
	if s.filled && len(s.buf) == 0 {
		size = max(size, largePiece)
	}
	need := int64(len(s.buf)) + max(size, minPiece) + frameHeaderBytes + endReserve
	if s.buf != nil && int64(cap(s.buf)) >= need {
		return
	}
	old := s.buf
	if need <= flightBytes {
		s.buf = s.buffers.get(need)
	} else { // a huge head
		s.buf = make([]byte, need)
	}
	s.buf = append(s.buf[:0], old...)
	s.buffers.put(old)
}

func (s *stage) meta(kind byte, a appender) {
	if s.record {
		s.buf = s.c.meta(s.buf, kind, a)
	}
}

// room gives the part of the buffer where the next piece is to be read into.
func (s *stage) room() []byte {
	start := len(s.buf)
	if s.record {
		start += frameHeaderBytes
	}
	return s.buf[start : cap(s.buf)-endReserve]
}

// piece makes a frame of the first n bytes of room. It gives the piece, which
// stays in place until the buffer is used for the next.
func (s *stage) piece(kind byte, n int) []byte {
	s.filled = n == len(s.room())
	start := len(s.buf)
	if !s.record {
		return s.buf[start : start+n]
	}
	if n == 0 {
		return nil
	}
	p := s.buf[start+frameHeaderBytes : start+frameHeaderBytes+n]
	s.buf = s.c.piece(s.buf[:start+frameHeaderBytes+n], start, kind)
	return p
}

// copy makes a frame of p, if there is anything in it.
func (s *stage) copy(kind byte, p []byte) {
	if len(p) > 0 {
		s.grow(int64(len(p)))
		s.piece(kind, copy(s.room(), p))
	}
}

// write writes what waits, inside a watch that lets others go on. It says false
// if they have: then the stage is theirs.
func (s *stage) write(w *watch) bool {
	c, buf := s.c, s.buf // read before anybody else may change them
	if !s.record || len(buf) == 0 {
		return true
	}
	region := w.enter(c.s.dog.stall)
	ok := c.flush(buf)
	if !w.leave(region) {
		return false
	}
	s.record = ok
	return true
}

// lose leaves the buffer to a write that stalls and gives recording up.
func (s *stage) lose() {
	s.c.abandon()
	s.buf, s.record = nil, false
}

// drop gives the buffer back, which nobody else may have.
func (s *stage) drop() {
	s.buffers.put(s.buf)
	s.buf = nil
}
