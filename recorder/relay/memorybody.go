package relay

import (
	"io"
	"net/http"
	"sync"

	"github.com/retake-debugger/retake/recorder/spool"
)

// memoryBody is a request body that lies in memory. It is recorded in one write and
// sent from the buffer in which its frame was made.
type memoryBody struct {
	io.ReadCloser // the client's body, of which only the end is left
	recording     *spool.Recording
	buffers       *bufferPool
	err           error // of reading the client's body, returned after left

	mu       sync.Mutex // the transport may close the body while it reads
	left     []byte
	buf      []byte // holds left
	released bool
}

// inMemory reports whether the whole body can be read without waiting, as that of
// a request that http.NewRequest made of bytes.
func inMemory(r *http.Request) bool {
	_, ok := r.Body.(io.WriterTo)
	return ok && r.GetBody != nil && r.ContentLength > 0 && r.ContentLength <= largeBytes-headRoom && len(r.Trailer) == 0
}

// BeginInMemory records the beginning of a request together with its body, and
// returns the body to send. It returns nil, and does nothing, if the body does not
// lie in memory or too many do.
func (a *AsyncWriter) BeginInMemory(begin *spool.Begin, r *http.Request) io.ReadCloser {
	if !inMemory(r) || !a.recording.HoldMemory(largeBytes) {
		return nil
	}
	b := &frameBuffer{recording: a.recording, buffers: a.writers.buffers, recorded: true}
	b.reserve(r.ContentLength + headRoom - minRead)
	b.appendMeta(spool.FrameBegin, begin)
	b.reserve(r.ContentLength)
	room := b.room()[:r.ContentLength]
	n, err := io.ReadFull(r.Body, room)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	m := &memoryBody{ReadCloser: r.Body, recording: a.recording, buffers: a.writers.buffers, err: err}
	m.left = b.appendBody(spool.FrameRequest, n)
	if err == nil || err == io.EOF {
		b.appendMeta(spool.FrameRequestEnd, &spool.Ending{})
	}
	if a.write(b.buf) {
		m.buf = b.buf
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
		m.release()
	}
	return n, nil
}

func (m *memoryBody) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left != nil {
		m.left, m.err = nil, http.ErrBodyReadAfterClose
	}
	m.release()
	return m.ReadCloser.Close()
}

func (m *memoryBody) release() {
	if !m.released {
		m.released = true
		m.buffers.put(m.buf)
		m.recording.FreeMemory(largeBytes)
	}
}
