package store

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/retake-debugger/retake/store/varint"
)

// The postings of a term are the numbers of the cells of a block that hold it,
// ascending. A row holds some terms in their order, each as
//
//	term n cell                    if n is 1
//	term n length postings         if it is more
//
// term is how far it is from the one before, the first from where the row begins.
// Postings are Rice coded: of how far a cell is behind the one before, less one,
// the low bits as they are, before them so many zeros as the rest says and a one.
// How many low bits there are follows from n and from how many cells the block
// has. A term that is nearly everywhere has none, and takes a bit for each cell.
// All other numbers are varints.

var errPostings = errors.New("stored terms of texts are damaged")

// lowBits is how many low bits stand as they are if n of so many cells are told.
func lowBits(n, cells uint32) uint {
	gap := uint64(cells) * 7 / 10 / uint64(n)
	return uint(max(0, bits.Len64(gap)-1))
}

// appendTerm appends a term whose distance from the one before is given.
func appendTerm(out []byte, distance term, cells []uint32, span uint32, scratch *bitWriter) []byte {
	out = binary.AppendUvarint(out, uint64(distance))
	out = binary.AppendUvarint(out, uint64(len(cells)))
	if len(cells) == 1 {
		return binary.AppendUvarint(out, uint64(cells[0]))
	}
	scratch.reset()
	low, next := lowBits(uint32(len(cells)), span), uint32(0)
	for _, cell := range cells {
		gap := cell - next
		scratch.zeros(gap >> low)
		scratch.write(1|uint64(gap)&(1<<low-1)<<1, low+1)
		next = cell + 1
	}
	data := scratch.bytes()
	out = binary.AppendUvarint(out, uint64(len(data)))
	return append(out, data...)
}

// bitWriter writes bits, the lowest of a byte first.
type bitWriter struct {
	out  []byte
	left uint64
	n    uint // bits in left
}

func (w *bitWriter) reset() { w.out, w.left, w.n = w.out[:0], 0, 0 }

// write appends n bits, at most 32.
func (w *bitWriter) write(v uint64, n uint) {
	w.left |= v << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.left))
		w.left >>= 8
	}
}

func (w *bitWriter) zeros(n uint32) {
	for ; n > 32; n -= 32 {
		w.write(0, 32)
	}
	w.write(0, uint(n))
}

func (w *bitWriter) bytes() []byte {
	if w.n > 0 {
		w.out = append(w.out, byte(w.left))
		w.left, w.n = 0, 0
	}
	return w.out
}

// postings are the cells of a term, as a row has them.
type postings struct {
	n     uint32
	cell  uint32 // if n is 1
	coded []byte // if it is more; shares memory with the row
}

// termReader reads the terms of a row one by one. It trusts nothing.
type termReader struct {
	v    varint.Reader
	term term
	postings
}

// readTerms reads a row whose first possible term is given.
func readTerms(row []byte, begin term) termReader {
	return termReader{v: varint.Reader{B: row}, term: begin}
}

// next reads the next term; false at the end and where the row is damaged.
func (r *termReader) next() bool {
	if len(r.v.B) == 0 {
		return false
	}
	r.term += term(r.v.Uint(1 << termBits))
	r.n = uint32(r.v.Uint(1 << 24))
	if r.n == 1 {
		r.cell = uint32(r.v.Uint(1 << 24))
	} else {
		r.coded = r.v.Bytes()
		r.v.Bad = r.v.Bad || r.n == 0 || uint64(r.n) > 8*uint64(len(r.coded))
	}
	return !r.v.Bad
}

// bitmap gives the postings of a term that is nearly everywhere: a bit for each
// cell, the lowest of a byte first.
func (r *postings) bitmap(span uint32) (bits []byte, ok bool) {
	return r.coded, r.n > 1 && lowBits(r.n, span) == 0
}

func hasBit(bits []byte, i uint32) bool { return int(i/8) < len(bits) && bits[i/8]&(1<<(i%8)) != 0 }

// cells appends the cells, all below span.
func (r *postings) cells(out []uint32, span uint32) ([]uint32, error) {
	if r.n == 1 {
		if r.cell >= span {
			return out, errPostings
		}
		return append(out, r.cell), nil
	}
	low := lowBits(r.n, span)
	mask := uint64(1)<<low - 1
	b, left, n := r.coded, uint64(0), uint(0)
	next := uint64(0)
	for range r.n {
		gap := uint64(0)
		for {
			for n <= 56 && len(b) > 0 {
				left |= uint64(b[0]) << n
				b, n = b[1:], n+8
			}
			if left != 0 {
				break
			}
			if gap += uint64(n); len(b) == 0 {
				return out, errPostings
			}
			n = 0
		}
		zeros := uint(bits.TrailingZeros64(left))
		gap += uint64(zeros)
		left, n = left>>zeros>>1, n-zeros-1
		for n < low && len(b) > 0 {
			left |= uint64(b[0]) << n
			b, n = b[1:], n+8
		}
		if n < low {
			return out, errPostings
		}
		cell := next + gap<<low + left&mask
		left, n = left>>low, n-low
		if cell >= uint64(span) {
			return out, errPostings
		}
		out, next = append(out, uint32(cell)), cell+1
	}
	return out, nil
}
