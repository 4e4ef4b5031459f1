package decode

import "sync"

const (
	bufferLeast = 32 << 10 // smaller ones cost nothing
	bufferMost  = 4 << 20  // larger ones are too rare to be kept
)

// buffers keeps the memory of bodies for the bodies to come.
type buffers struct{ pool sync.Pool }

// take gives n bytes that say anything.
func (b *buffers) take(n int) []byte {
	if n < bufferLeast || n > bufferMost {
		return make([]byte, n)
	}
	if kept, ok := b.pool.Get().(*[]byte); ok && cap(*kept) >= n {
		return (*kept)[:n]
	}
	return make([]byte, n, n+n/4)
}

// give takes memory back that nobody uses any more.
func (b *buffers) give(body []byte) {
	if n := cap(body); n >= bufferLeast && n <= bufferMost+bufferMost/4 {
		b.pool.Put(&body)
	}
}
