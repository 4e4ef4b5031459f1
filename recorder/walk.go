package recorder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"
)

var errFrame = errors.New("damaged frame")

// span is where an exchange lies.
type span struct {
	file       io.ReaderAt
	start, end int64
	epoch      uint64
	blocks     *blockPool
	memory     []byte // all of it, if it is small
}

// keep reads a small span into memory at once, which is given back with drop.
func (s *span) keep() error {
	if s.end-s.start > smallSpan {
		return nil
	}
	b := s.blocks.getSmall()[:s.end-s.start]
	if n, err := s.file.ReadAt(b, s.start); n < len(b) {
		return short(n, len(b), err)
	}
	s.memory = b
	return nil
}

func (s *span) drop() {
	if s.memory != nil {
		s.blocks.small.Put((*[smallSpan]byte)(s.memory[:smallSpan]))
		s.memory = nil
	}
}

// walker goes through the frames of a span, reading it in blocks.
type walker struct {
	span
	pos   int64 // behind the last frame
	block []byte
	from  int64  // where block lies in the file
	last  int64  // where the payload of the last frame begins
	ahead []byte // what seek reads
}

const (
	walkBlock = 16 << 10
	smallSpan = 8 << 10
)

// blockPool keeps the blocks of walkers and the memory of small spans.
type blockPool struct{ blocks, small sync.Pool }

func (p *blockPool) get() []byte {
	if b, ok := p.blocks.Get().(*[walkBlock]byte); ok {
		return b[:]
	}
	return make([]byte, walkBlock)
}

func (p *blockPool) getSmall() []byte {
	if b, ok := p.small.Get().(*[smallSpan]byte); ok {
		return b[:]
	}
	return make([]byte, smallSpan)
}

func (p *blockPool) put(b []byte) { p.blocks.Put((*[walkBlock]byte)(b[:walkBlock])) }

// free gives the block back. The walker can still be used.
func (w *walker) free() {
	if w.block != nil {
		w.blocks.put(w.block)
		w.block = nil
	}
}

// next gives the next frame and steps over its payload. io.EOF at the end of
// the span, errFrame for anything that is no frame of this epoch. It does not
// look at the payload: check does.
func (w *walker) next() (frame, error) {
	if w.pos >= w.end {
		return frame{}, io.EOF
	}
	var h [frameHeaderBytes]byte
	if w.end-w.pos < frameHeaderBytes {
		return frame{}, errFrame
	}
	if _, err := w.readAt(h[:], w.pos); err != nil {
		return frame{}, err
	}
	f, ok := parseFrame(h[:])
	if !ok || f.epoch != w.epoch || f.length+tailOf(f.length) > w.end-w.pos-frameHeaderBytes {
		return frame{}, errFrame
	}
	w.last = w.pos + frameHeaderBytes
	w.pos = w.last + f.length + tailOf(f.length)
	return f, nil
}

// payload reads the payload of the last frame into p.
func (w *walker) payload(p []byte) error {
	_, err := w.readAt(p, w.last)
	return err
}

// check tells whether the last frame is whole.
func (w *walker) check(f frame) (bool, error) {
	var h [frameHeaderBytes]byte
	if _, err := w.readAt(h[:], w.last-frameHeaderBytes); err != nil {
		return false, err
	}
	sum := headerSum(h[:])
	if f.length >= largePayload {
		var tail [tailBytes]byte
		_, err := w.readAt(tail[:], w.last+f.length)
		return sum == f.crc && binary.LittleEndian.Uint64(tail[:]) == f.epoch, err
	}
	var buf [largePayload]byte
	payload := buf[:f.length]
	if _, err := w.readAt(payload, w.last); err != nil {
		return false, err
	}
	return crc32.Update(sum, castagnoli, payload) == f.crc, nil
}

// seek steps to the first whole frame at or behind a place, and tells whether
// there is one. With any, one of any epoch, which then is that of the walker.
func (w *walker) seek(at int64, any bool) bool {
	if w.ahead == nil {
		w.ahead = make([]byte, min(seekBlock, w.end))
	}
	for buf := w.ahead; at < w.end; {
		n, _ := w.file.ReadAt(buf[:min(int64(len(buf)), w.end-at)], at)
		for i := 0; ; i++ {
			next := bytes.Index(buf[i:n], frameMagic[:])
			if next < 0 {
				break
			}
			i += next
			if w.frameAt(at+int64(i), any) {
				return true
			}
		}
		if n <= len(frameMagic) {
			return false
		}
		at += int64(n - len(frameMagic) + 1)
	}
	return false
}

// seekBlock is how much seek reads at once.
const seekBlock = 64 << 10

// frameAt tells whether a whole frame lies at a place, and steps there.
func (w *walker) frameAt(at int64, any bool) bool {
	epoch := w.epoch
	if any {
		var h [frameHeaderBytes]byte
		if n, _ := w.file.ReadAt(h[:], at); n == len(h) {
			w.epoch = binary.LittleEndian.Uint64(h[8:])
		}
	}
	w.pos = at
	_, ok := w.whole()
	w.pos = at
	if !ok {
		w.epoch = epoch
	}
	return ok
}

// whole gives the next frame if it is there and whole.
func (w *walker) whole() (frame, bool) {
	f, err := w.next()
	if err != nil {
		return f, false
	}
	ok, err := w.check(f)
	return f, ok && err == nil
}

// readAt fills p from the file, small pieces by way of the block.
func (w *walker) readAt(p []byte, at int64) (int, error) {
	if w.memory != nil {
		n := copy(p, w.memory[min(at-w.start, int64(len(w.memory))):])
		return n, short(n, len(p), nil)
	}
	if len(p) >= walkBlock {
		n, err := w.file.ReadAt(p, at)
		return n, short(n, len(p), err)
	}
	if at < w.from || at+int64(len(p)) > w.from+int64(len(w.block)) {
		if w.block == nil {
			w.block = w.blocks.get()
		}
		w.block = w.block[:walkBlock]
		n, err := w.file.ReadAt(w.block[:min(walkBlock, max(w.end-at, int64(len(p))))], at)
		w.block, w.from = w.block[:n], at
		if n < len(p) {
			return 0, short(n, len(p), err)
		}
	}
	return copy(p, w.block[at-w.from:]), nil
}

func short(n, want int, err error) error {
	if n == want {
		return nil
	}
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
