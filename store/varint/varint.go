// Package varint reads numbers as encoding/binary writes them.
package varint

import "encoding/binary"

// A Reader reads numbers from bytes that may be damaged. After the first one
// that does not fit, Bad is set and everything reads as zero.
type Reader struct {
	B   []byte
	Bad bool
}

// Uint reads a number of at most limit.
func (v *Reader) Uint(limit uint64) uint64 {
	x, n := binary.Uvarint(v.B)
	if v.Bad || n <= 0 || x > limit {
		v.Bad, v.B = true, nil
		return 0
	}
	v.B = v.B[n:]
	return x
}

// Int reads a signed number.
func (v *Reader) Int() int64 {
	x, n := binary.Varint(v.B)
	if v.Bad || n <= 0 {
		v.Bad, v.B = true, nil
		return 0
	}
	v.B = v.B[n:]
	return x
}

// Bytes reads a length and as many bytes. They are not copied.
func (v *Reader) Bytes() []byte {
	n := v.Uint(uint64(len(v.B)))
	if v.Bad || n > uint64(len(v.B)) {
		v.Bad, v.B = true, nil
		return nil
	}
	b := v.B[:n]
	v.B = v.B[n:]
	return b
}
