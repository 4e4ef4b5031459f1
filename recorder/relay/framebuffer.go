package relay

import "github.com/retake-debugger/retake/recorder/spool"

// frameBuffer holds frames that wait to be written. Body bytes are read right into
// the place that their frame will have, so that nothing is copied. One goroutine
// uses it at a time.
type frameBuffer struct {
	recording *spool.Recording
	buffers   *bufferPool
	buf       []byte
	recorded  bool // whether frames are made; without, only body bytes pass
	filled    bool // the last read took all the room
}

// endReserve is the room that is kept after body bytes for the frame that ends the
// exchange.
const endReserve = 512

// minRead is the least room that is worth a read, largeRead what fits a medium
// buffer, which is used where much arrives at once.
const (
	minRead   = 4 << 10
	largeRead = mediumBytes - spool.HeaderBytes - endReserve
)

// reserve makes room to read that many body bytes, at least minRead, after the
// frames that wait.
func (b *frameBuffer) reserve(size int64) {
	if b.filled && len(b.buf) == 0 {
		size = max(size, largeRead)
	}
	need := int64(len(b.buf)) + max(size, minRead) + spool.HeaderBytes + endReserve
	if b.buf != nil && int64(cap(b.buf)) >= need {
		return
	}
	old := b.buf
	if need <= largeBytes {
		b.buf = b.buffers.get(need)
	} else { // a huge head
		b.buf = make([]byte, need)
	}
	b.buf = append(b.buf[:0], old...)
	b.buffers.put(old)
}

func (b *frameBuffer) appendMeta(kind byte, p spool.Payload) {
	if b.recorded {
		b.buf = b.recording.AppendMeta(b.buf, kind, p)
	}
}

// room returns the part of the buffer to read body bytes into.
func (b *frameBuffer) room() []byte {
	start := len(b.buf)
	if b.recorded {
		start += spool.HeaderBytes
	}
	return b.buf[start : cap(b.buf)-endReserve]
}

// appendBody makes a frame of the first n bytes of room. It returns these bytes,
// which stay in place until the buffer is used again.
func (b *frameBuffer) appendBody(kind byte, n int) []byte {
	b.filled = n == len(b.room())
	start := len(b.buf)
	if !b.recorded {
		return b.buf[start : start+n]
	}
	if n == 0 {
		return nil
	}
	p := b.buf[start+spool.HeaderBytes : start+spool.HeaderBytes+n]
	b.buf = b.recording.Seal(b.buf[:start+spool.HeaderBytes+n], start, kind)
	return p
}

// copyBody makes a frame of p, if p is not empty.
func (b *frameBuffer) copyBody(kind byte, p []byte) {
	if len(p) > 0 {
		b.reserve(int64(len(p)))
		b.appendBody(kind, copy(b.room(), p))
	}
}

// write writes the frames that wait, inside a region of w. It returns false if
// another goroutine took over: then the buffer belongs to that one.
func (b *frameBuffer) write(w *watch) bool {
	recording, buf := b.recording, b.buf // read before anyone else may change them
	if !b.recorded || len(buf) == 0 {
		return true
	}
	region := w.enter(w.stall)
	ok := recording.Write(buf)
	if !w.leave(region) {
		return false
	}
	b.recorded = ok
	return true
}

// abandon leaves the buffer to a write that stalls and stops recording.
func (b *frameBuffer) abandon() {
	b.recording.Abandon()
	b.buf, b.recorded = nil, false
}

// release returns the buffer to its pool. Nobody else may hold on to it.
func (b *frameBuffer) release() {
	b.buffers.put(b.buf)
	b.buf = nil
}
