package relay

import "sync"

// The sizes of buffers: small is what an exchange holds while it waits; medium is
// the most that is relayed at once; large fits a request body that is sent in one
// write.
const (
	smallBytes  = 8 << 10
	mediumBytes = 32 << 10
	largeBytes  = 256 << 10
)

// bufferPool keeps buffers of these sizes.
type bufferPool struct {
	small, medium, large sync.Pool
}

// get returns a buffer of at least size bytes. size is at most largeBytes.
func (p *bufferPool) get(size int64) []byte {
	switch {
	case size > mediumBytes:
		if b, ok := p.large.Get().(*[largeBytes]byte); ok {
			return b[:]
		}
		return make([]byte, largeBytes)
	case size > smallBytes:
		if b, ok := p.medium.Get().(*[mediumBytes]byte); ok {
			return b[:]
		}
		return make([]byte, mediumBytes)
	}
	if b, ok := p.small.Get().(*[smallBytes]byte); ok {
		return b[:]
	}
	return make([]byte, smallBytes)
}

// put takes a buffer of get back. Nothing else may hold on to it.
func (p *bufferPool) put(b []byte) {
	switch cap(b) {
	case smallBytes:
		p.small.Put((*[smallBytes]byte)(b[:smallBytes]))
	case mediumBytes:
		p.medium.Put((*[mediumBytes]byte)(b[:mediumBytes]))
	case largeBytes:
		p.large.Put((*[largeBytes]byte)(b[:largeBytes]))
	}
}
