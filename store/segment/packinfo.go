package segment

import (
	"github.com/retake-debugger/retake/store/varint"
)

// PackInfo is a pack without its data.
type PackInfo struct {
	First, Count, Bytes, Stored int64
	Lengths                     []byte
}

// Segments calls f for each segment that the pack holds.
func (p *PackInfo) Segments(f func(number, bytes int64)) error {
	v := varint.Reader{B: p.Lengths}
	for n := p.First; len(v.B) > 0; n++ {
		if bytes := v.Uint(maxPack); bytes > 0 {
			f(n, int64(bytes))
		}
	}
	if v.Bad {
		return ErrPack
	}
	return nil
}

// Share is what so many of the pack's bytes take up in the file.
func (p *PackInfo) Share(bytes int64) int64 {
	if p.Bytes <= 0 {
		return 0
	}
	return int64(float64(p.Stored) * float64(bytes) / float64(p.Bytes))
}
