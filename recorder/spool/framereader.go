package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"
)

var errFrame = errors.New("damaged frame")

// span is where an exchange lies in a file.
type span struct {
	file       io.ReaderAt
	start, end int64
	epoch      uint64
	blocks     *blockPool
	memory     []byte // all of it, if it is small
}

// load reads a small span into memory. release gives the memory back.
func (s *span) load() error {
	if s.end-s.start > smallSpanBytes {
		return nil
	}
	b := s.blocks.getSmall()[:s.end-s.start]
	if n, err := s.file.ReadAt(b, s.start); n < len(b) {
		return short(n, len(b), err)
	}
	s.memory = b
	return nil
}

func (s *span) release() {
	if s.memory != nil {
		s.blocks.small.Put((*[smallSpanBytes]byte)(s.memory[:smallSpanBytes]))
		s.memory = nil
	}
}

// frameReader reads the frames of a span, in blocks.
type frameReader struct {
	span
	pos        int64 // after the last frame
	block      []byte
	from       int64  // where block lies in the file
	last       int64  // where the payload of the last frame begins
	seekBuffer []byte // what seek reads
}

const (
	blockBytes     = 16 << 10
	smallSpanBytes = 8 << 10
)

// blockPool keeps the blocks of frameReaders and the memory of small spans.
type blockPool struct{ blocks, small sync.Pool }

func (p *blockPool) get() []byte {
	if b, ok := p.blocks.Get().(*[blockBytes]byte); ok {
		return b[:]
	}
	return make([]byte, blockBytes)
}

func (p *blockPool) getSmall() []byte {
	if b, ok := p.small.Get().(*[smallSpanBytes]byte); ok {
		return b[:]
	}
	return make([]byte, smallSpanBytes)
}

func (p *blockPool) put(b []byte) { p.blocks.Put((*[blockBytes]byte)(b[:blockBytes])) }

// free gives the block back. The reader can still be used.
func (w *frameReader) free() {
	if w.block != nil {
		w.blocks.put(w.block)
		w.block = nil
	}
}

// next returns the next frame and steps over its payload: io.EOF at the end of the
// span, errFrame if there is no frame of this epoch. It does not check the payload;
// check does.
func (w *frameReader) next() (frame, error) {
	if w.pos >= w.end {
		return frame{}, io.EOF
	}
	var h [HeaderBytes]byte
	if w.end-w.pos < HeaderBytes {
		return frame{}, errFrame
	}
	if _, err := w.readAt(h[:], w.pos); err != nil {
		return frame{}, err
	}
	f, ok := parseFrame(h[:])
	if !ok || f.epoch != w.epoch || f.length+tailOf(f.length) > w.end-w.pos-HeaderBytes {
		return frame{}, errFrame
	}
	w.last = w.pos + HeaderBytes
	w.pos = w.last + f.length + tailOf(f.length)
	return f, nil
}

// payload reads the payload of the last frame into p.
func (w *frameReader) payload(p []byte) error {
	_, err := w.readAt(p, w.last)
	return err
}

// check reports whether the last frame is whole.
func (w *frameReader) check(f frame) (bool, error) {
	var h [HeaderBytes]byte
	if _, err := w.readAt(h[:], w.last-HeaderBytes); err != nil {
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

// seek steps to the first whole frame at or after at, and reports whether there is
// one. With any the frame may be of any epoch, which then becomes that of the
// reader.
func (w *frameReader) seek(at int64, any bool) bool {
	if w.seekBuffer == nil {
		w.seekBuffer = make([]byte, min(seekBlock, w.end))
	}
	for buf := w.seekBuffer; at < w.end; {
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

// frameAt reports whether a whole frame lies at at, and steps there.
func (w *frameReader) frameAt(at int64, any bool) bool {
	epoch := w.epoch
	if any {
		var h [HeaderBytes]byte
		if n, _ := w.file.ReadAt(h[:], at); n == len(h) {
			w.epoch = binary.LittleEndian.Uint64(h[8:])
		}
	}
	w.pos = at
	_, ok := w.nextWhole()
	w.pos = at
	if !ok {
		w.epoch = epoch
	}
	return ok
}

// nextWhole returns the next frame if it is there and whole.
func (w *frameReader) nextWhole() (frame, bool) {
	f, err := w.next()
	if err != nil {
		return f, false
	}
	ok, err := w.check(f)
	return f, ok && err == nil
}

// readAt fills p from the file, small reads through the block.
func (w *frameReader) readAt(p []byte, at int64) (int, error) {
	if w.memory != nil {
		n := copy(p, w.memory[min(at-w.start, int64(len(w.memory))):])
		return n, short(n, len(p), nil)
	}
	if len(p) >= blockBytes {
		n, err := w.file.ReadAt(p, at)
		return n, short(n, len(p), err)
	}
	if at < w.from || at+int64(len(p)) > w.from+int64(len(w.block)) {
		if w.block == nil {
			w.block = w.blocks.get()
		}
		w.block = w.block[:blockBytes]
		n, err := w.file.ReadAt(w.block[:min(blockBytes, max(w.end-at, int64(len(p))))], at)
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
