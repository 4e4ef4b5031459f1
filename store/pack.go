package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/retake-debugger/retake/store/varint"
)

var (
	errPack    = errors.New("a stored pack is damaged")
	errSegment = errors.New("a stored segment is missing")
)

// segmentID is a number within a lane, times two, plus the lane.
type segmentID int64

func (id segmentID) lane() int     { return int(id & 1) }
func (id segmentID) number() int64 { return int64(id >> 1) }

func idIn(lane int, number int64) segmentID { return segmentID(number<<1 | int64(lane)) }

// The lanes, and the tables of their packs.
const (
	pieces = 0 // pieces of bodies that were cut
	wholes = 1 // whole bodies and large pieces
)

var packTables = [2]string{"piece_pack", "whole_pack"}

// maxPack bounds the bytes of a pack. What the writer makes is smaller; a
// larger one is damage.
const maxPack = 4 << 20

// pack is an unpacked pack, or the beginning of one.
type pack struct {
	lane  int
	first int64
	ends  []int // of each segment in data
	data  []byte
}

// segment gives the bytes of a segment; they are shared and must not be changed.
// One that was removed has length 0: none is stored empty.
func (p *pack) segment(id segmentID) ([]byte, bool) {
	if !p.covers(id) {
		return nil, false
	}
	i := id.number() - p.first
	if p.ends[i] > len(p.data) {
		return nil, false
	}
	start := 0
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.data[start:p.ends[i]], p.ends[i] > start
}

// covers tells whether a segment is in the pack, unpacked or not.
func (p *pack) covers(id segmentID) bool {
	i := id.number() - p.first
	return id.lane() == p.lane && i >= 0 && i < int64(len(p.ends))
}

// has tells whether what is unpacked of another pack is unpacked here as well.
func (p *pack) has(other *pack) bool {
	return p.lane == other.lane && p.first <= other.first && p.unpacked() >= other.unpacked()
}

// unpacked gives the number behind the last segment that is unpacked.
func (p *pack) unpacked() int64 {
	n, _ := slices.BinarySearch(p.ends, len(p.data)+1)
	return p.first + int64(n)
}

// whole tells whether all of it is unpacked, so that a sum has told that it is right.
func (p *pack) whole() bool { return len(p.ends) == 0 || p.ends[len(p.ends)-1] == len(p.data) }

func (p *pack) last() int64 { return p.first + int64(len(p.ends)) - 1 }

// packedRow is a pack as a row holds it.
type packedRow struct {
	first, count, bytes int64
	lengths, data       []byte
}

func packRow(first int64, lengths []int, data []byte, compress func([]byte) []byte) packedRow {
	row := packedRow{first: first, count: int64(len(lengths)), bytes: int64(len(data))}
	for _, l := range lengths {
		row.lengths = binary.AppendUvarint(row.lengths, uint64(l))
	}
	row.data = compress(data)
	return row
}

// unpackTo unpacks no more than what holds the segment of that number. It trusts
// nothing in the row.
func (c *codec) unpackTo(lane int, row packedRow, number int64) (*pack, error) {
	if row.bytes < 0 || row.bytes > maxPack || row.count < 0 || row.count > int64(len(row.lengths)) {
		return nil, errPack
	}
	p := &pack{lane: lane, first: row.first, ends: make([]int, 0, row.count)}
	v := varint.Reader{B: row.lengths}
	end := 0
	for len(v.B) > 0 {
		end += int(v.Uint(maxPack))
		if end > maxPack {
			return nil, errPack
		}
		p.ends = append(p.ends, end)
	}
	if v.Bad || int64(len(p.ends)) != row.count || int64(end) != row.bytes {
		return nil, errPack
	}
	var err error
	compressed := int64(len(row.data)) < row.bytes
	if i := number - p.first; compressed && i >= 0 && i < row.count && int64(p.ends[i]) < row.bytes {
		p.data, err = c.decodeBeginning(row.data, p.ends[i])
	} else if p.data, err = c.decode(row.data, row.bytes); err == nil && len(p.data) != end {
		err = errPack
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// readPack reads the pack that holds a segment.
func readPack(ctx context.Context, st *statements, c *codec, id segmentID) (*pack, error) {
	return readPackTo(ctx, st, c, id, math.MaxInt64)
}

// readPackTo unpacks no more of it than what holds the segment of a number.
func readPackTo(ctx context.Context, st *statements, c *codec, id segmentID, number int64) (*pack, error) {
	var p *pack
	query := "SELECT first, count, bytes, lengths, data FROM " + packTables[id.lane()] + " WHERE first <= ? ORDER BY first DESC LIMIT 1"
	err := st.rows(ctx, query, []any{id.number()}, func(r *sql.Rows) error {
		var row packedRow
		var lengths, data sql.RawBytes // spares a copy
		err := r.Scan(&row.first, &row.count, &row.bytes, &lengths, &data)
		if err != nil {
			return err
		}
		row.lengths, row.data = lengths, data
		if p, err = c.unpackTo(id.lane(), row, number); err != nil {
			return fmt.Errorf("unpack %s %d: %w", packTables[id.lane()], row.first, err)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read pack: %w", err)
	}
	if p == nil {
		return nil, fmt.Errorf("segment %d: %w", id, errSegment)
	}
	if _, ok := p.segment(id); !ok {
		return nil, fmt.Errorf("segment %d: %w", id, errSegment)
	}
	return p, nil
}
