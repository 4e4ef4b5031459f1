package store

import "encoding/binary"

// varints reads numbers from bytes that may be damaged: after the first one
// that does not fit, bad is set and everything reads as zero.
type varints struct {
	b   []byte
	bad bool
}

// uint reads a number of at most limit.
func (v *varints) uint(limit uint64) uint64 {
	x, n := binary.Uvarint(v.b)
	if v.bad || n <= 0 || x > limit {
		v.bad, v.b = true, nil
		return 0
	}
	v.b = v.b[n:]
	return x
}

func (v *varints) int() int64 {
	x, n := binary.Varint(v.b)
	if v.bad || n <= 0 {
		v.bad, v.b = true, nil
		return 0
	}
	v.b = v.b[n:]
	return x
}

// bytes reads a length and as many bytes; they are not copied.
func (v *varints) bytes() []byte {
	n := v.uint(uint64(len(v.b)))
	if v.bad || n > uint64(len(v.b)) {
		v.bad, v.b = true, nil
		return nil
	}
	b := v.b[:n]
	v.b = v.b[n:]
	return b
}
