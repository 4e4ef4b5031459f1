package segment

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/retake-debugger/retake/store/varint"
)

var (
	ErrPack    = errors.New("a stored pack is damaged")
	ErrSegment = errors.New("a stored segment is missing")
)

// streamNames are for messages.
var streamNames = [2]string{"pack of parts", "pack of wholes"}

// ID is a number within a stream, times two, plus the stream.
type ID int64

// Stream is 0 or 1.
func (id ID) Stream() int { return int(id & 1) }

// Number counts the segments of the stream.
func (id ID) Number() int64 { return int64(id >> 1) }

// IDIn returns the id of a segment of a stream.
func IDIn(stream int, number int64) ID { return ID(number<<1 | int64(stream)) }

// The streams.
const (
	Parts  = 0 // parts of bodies that were cut
	Wholes = 1 // whole bodies and large parts
)

// maxPack bounds the bytes of a pack. What the writer makes is smaller; a
// larger one is damage.
const maxPack = 4 << 20

// Pack is an unpacked pack, or the beginning of one.
type Pack struct {
	stream int
	First  int64
	ends   []int // of each segment in data
	data   []byte
}

// Segment returns the bytes of a segment; they are shared and must not be changed.
// One that was removed has length 0: none is stored empty.
func (p *Pack) Segment(id ID) ([]byte, bool) {
	if !p.covers(id) {
		return nil, false
	}
	i := id.Number() - p.First
	if p.ends[i] > len(p.data) {
		return nil, false
	}
	start := 0
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.data[start:p.ends[i]], p.ends[i] > start
}

// covers reports whether a segment is in the pack, unpacked or not.
func (p *Pack) covers(id ID) bool {
	i := id.Number() - p.First
	return id.Stream() == p.stream && i >= 0 && i < int64(len(p.ends))
}

// has reports whether what is unpacked of another pack is unpacked here as well.
func (p *Pack) has(other *Pack) bool {
	return p.stream == other.stream && p.First <= other.First && p.unpacked() >= other.unpacked()
}

// unpacked returns the number after the last segment that is unpacked.
func (p *Pack) unpacked() int64 {
	n, _ := slices.BinarySearch(p.ends, len(p.data)+1)
	return p.First + int64(n)
}

// Whole reports whether all of it is unpacked, so that a sum has told that it is right.
func (p *Pack) Whole() bool { return len(p.ends) == 0 || p.ends[len(p.ends)-1] == len(p.data) }

// Last is the number of its last segment.
func (p *Pack) Last() int64 { return p.First + int64(len(p.ends)) - 1 }

// Row is a pack as a row holds it.
type Row struct {
	First, Count, Bytes int64
	Lengths, Data       []byte
}

// NewRow packs segments.
func NewRow(first int64, lengths []int, data []byte, compress func([]byte) []byte) Row {
	row := Row{First: first, Count: int64(len(lengths)), Bytes: int64(len(data))}
	for _, l := range lengths {
		row.Lengths = binary.AppendUvarint(row.Lengths, uint64(l))
	}
	row.Data = compress(data)
	return row
}

// unpackTo unpacks no more than what holds the segment of that number. It trusts
// nothing in the row.
func (c *Codec) unpackTo(stream int, row Row, number int64) (*Pack, error) {
	if row.Bytes < 0 || row.Bytes > maxPack || row.Count < 0 || row.Count > int64(len(row.Lengths)) {
		return nil, ErrPack
	}
	p := &Pack{stream: stream, First: row.First, ends: make([]int, 0, row.Count)}
	v := varint.Reader{B: row.Lengths}
	end := 0
	for len(v.B) > 0 {
		end += int(v.Uint(maxPack))
		if end > maxPack {
			return nil, ErrPack
		}
		p.ends = append(p.ends, end)
	}
	if v.Bad || int64(len(p.ends)) != row.Count || int64(end) != row.Bytes {
		return nil, ErrPack
	}
	var err error
	compressed := int64(len(row.Data)) < row.Bytes
	if i := number - p.First; compressed && i >= 0 && i < row.Count && int64(p.ends[i]) < row.Bytes {
		p.data, err = c.decodeBeginning(row.Data, p.ends[i])
	} else if p.data, err = c.decode(row.Data, row.Bytes); err == nil && len(p.data) != end {
		err = ErrPack
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}
