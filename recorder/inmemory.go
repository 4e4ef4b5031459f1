package recorder

import (
	"io"
	"net/http"
	"sync"
)

// memoryBody is a request body that lies in memory, which is recorded at once and
// sent from the buffer in which its frame was made.
type memoryBody struct {
	io.ReadCloser // what the client gave; nothing is left of it but its end
	s             *Spool
	err           error // of reading it, told behind what there was

	mu   sync.Mutex // the transport may close it while it reads
	left []byte
	buf  []byte // that holds left
	over bool   // buf was given back
}

// inMemory tells whether the whole body can be had without waiting for anybody, as
// that of a request can which http.NewRequest made of bytes.
func inMemory(r *http.Request) bool {
	_, ok := r.Body.(io.WriterTo)
	return ok && r.GetBody != nil && r.ContentLength > 0 && r.ContentLength <= flightBytes-stagedHead && len(r.Trailer) == 0
}

// takeBody records how a request begins together with its body. It gives nil, and
// has done nothing, where that does not lie in memory or too many do.
func (a *aside) takeBody(b *begin, r *http.Request) *memoryBody {
	if !inMemory(r) {
		return nil
	}
	if a.c.s.held.Add(flightBytes) > flightBudget {
		a.c.s.held.Add(-flightBytes)
		return nil
	}
	s := &stage{c: a.c, buffers: &a.c.s.buffers, record: true}
	s.grow(r.ContentLength + stagedHead - minPiece)
	s.meta(frameBegin, b)
	s.grow(r.ContentLength)
	room := s.room()[:r.ContentLength]
	n, err := io.ReadFull(r.Body, room)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	m := &memoryBody{ReadCloser: r.Body, s: a.c.s, err: err}
	m.left = s.piece(frameRequest, n)
	if err == nil || err == io.EOF {
		s.meta(frameRequestEnd, &ending{})
	}
	if a.write(s.buf) {
		m.buf = s.buf
	}
	return m
}

func (m *memoryBody) Read(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.left) == 0 && m.err != nil {
		return 0, m.err
	}
	if len(m.left) == 0 {
		return m.ReadCloser.Read(p)
	}
	n := copy(p, m.left)
	if m.left = m.left[n:]; len(m.left) == 0 {
		m.giveBack()
	}
	return n, nil
}

func (m *memoryBody) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left != nil {
		m.left, m.err = nil, http.ErrBodyReadAfterClose
	}
	m.giveBack()
	return m.ReadCloser.Close()
}

func (m *memoryBody) giveBack() {
	if !m.over {
		m.over = true
		m.s.buffers.put(m.buf)
		m.s.held.Add(-flightBytes)
	}
}
