package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
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

// pack is an unpacked pack.
type pack struct {
	lane  int
	first int64
	ends  []int // of each segment in data
	data  []byte
}

// segment gives the bytes of a segment; they are shared and must not be changed.
// One that was removed has length 0: none is stored empty.
func (p *pack) segment(id segmentID) ([]byte, bool) {
	i := id.number() - p.first
	if id.lane() != p.lane || i < 0 || i >= int64(len(p.ends)) {
		return nil, false
	}
	start := 0
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.data[start:p.ends[i]], p.ends[i] > start
}

func (p *pack) last() int64 { return p.first + int64(len(p.ends)) - 1 }

// packedRow is a pack as a row holds it.
type packedRow struct {
	first, count, bytes int64
	lengths, data       []byte
}

// codec compresses and decompresses packs. It is safe for concurrent use.
type codec struct {
	quick, tight *zstd.Encoder
	decoder      *zstd.Decoder
	closing      sync.RWMutex // a decoder must not be closed while it decodes
	closed       bool
}

// newCodec: loose packs are compressed quickly, since they are merged soon,
// full ones well.
func newCodec() (*codec, error) {
	encoder := func(level zstd.EncoderLevel, window int) (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
	}
	quick, err := encoder(zstd.SpeedFastest, 256<<10)
	if err != nil {
		return nil, err
	}
	tight, err := encoder(zstd.SpeedDefault, 1<<20)
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxPack))
	if err != nil {
		return nil, err
	}
	return &codec{quick: quick, tight: tight, decoder: decoder}, nil
}

func (c *codec) close() {
	c.closing.Lock()
	defer c.closing.Unlock()
	c.closed = true
	c.quick.Close()
	c.tight.Close()
	c.decoder.Close()
}

// decodeSlack is room behind the data that lets the decoder copy in whole words.
const decodeSlack = 64

// decode gives the data of a pack; sql.ErrConnDone once the codec is closed.
func (c *codec) decode(data []byte, size int64) ([]byte, error) {
	c.closing.RLock()
	defer c.closing.RUnlock()
	if c.closed {
		return nil, sql.ErrConnDone
	}
	plain, err := c.decoder.DecodeAll(data, make([]byte, 0, size+decodeSlack))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPack, err)
	}
	return plain, nil
}

func packRow(first int64, lengths []int, data []byte, encoder *zstd.Encoder) packedRow {
	row := packedRow{first: first, count: int64(len(lengths)), bytes: int64(len(data))}
	for _, l := range lengths {
		row.lengths = binary.AppendUvarint(row.lengths, uint64(l))
	}
	row.data = encoder.EncodeAll(data, nil)
	return row
}

// unpack trusts nothing in the row.
func (c *codec) unpack(lane int, row packedRow) (*pack, error) {
	if row.bytes < 0 || row.bytes > maxPack || row.count < 0 || row.count > int64(len(row.lengths)) {
		return nil, errPack
	}
	p := &pack{lane: lane, first: row.first, ends: make([]int, 0, row.count)}
	v := varints{b: row.lengths}
	end := 0
	for len(v.b) > 0 {
		end += int(v.uint(maxPack))
		if end > maxPack {
			return nil, errPack
		}
		p.ends = append(p.ends, end)
	}
	var err error
	if p.data, err = c.decode(row.data, row.bytes); err != nil {
		return nil, err
	}
	if v.bad || int64(len(p.ends)) != row.count || end != len(p.data) {
		return nil, errPack
	}
	return p, nil
}

// readPack reads the pack that holds a segment.
func readPack(ctx context.Context, st *statements, c *codec, id segmentID) (*pack, error) {
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
		if p, err = c.unpack(id.lane(), row); err != nil {
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

// packCache keeps the packs that were read last. Segments never change, so an
// entry stays right even when its pack has been merged into another since.
type packCache struct {
	mu    sync.Mutex
	limit int
	size  int
	packs []*pack // the latest used last
}

func (c *packCache) find(id segmentID) *pack {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.packs) - 1; i >= 0; i-- {
		p := c.packs[i]
		if _, ok := p.segment(id); ok {
			copy(c.packs[i:], c.packs[i+1:])
			c.packs[len(c.packs)-1] = p
			return p
		}
	}
	return nil
}

func (c *packCache) keep(p *pack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.packs = append(c.packs, p)
	c.size += len(p.data)
	for c.size > c.limit && len(c.packs) > 1 {
		c.size -= len(c.packs[0].data)
		c.packs[0] = nil
		c.packs = c.packs[1:]
	}
}
