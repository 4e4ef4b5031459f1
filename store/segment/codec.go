package segment

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// Codec compresses and decompresses packs. Decompressing is safe for concurrent use.
type Codec struct {
	encoder    *zstd.Encoder // of the writer alone
	decoder    *zstd.Decoder
	beginnings sync.Pool    // of decoders of streams, which need not be closed
	closing    sync.RWMutex // a decoder must not be closed while it decodes
	closed     bool
}

// NewCodec uses the quickest level. The next one makes packs of text a twentieth smaller, for twice
// the time and 2 MB more of memory.
func NewCodec() (*Codec, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(PendingLimit), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxPack))
	if err != nil {
		return nil, err
	}
	return &Codec{encoder: encoder, decoder: decoder}, nil
}

// Close ends decoding, when what is being decoded is done.
func (c *Codec) Close() {
	c.closing.Lock()
	defer c.closing.Unlock()
	c.closed = true
	c.encoder.Close()
	c.decoder.Close()
}

// decodeSlack is room after the data that lets the decoder copy in whole words.
const decodeSlack = 64

// decode returns the data of a pack; sql.ErrConnDone once the codec is closed.
func (c *Codec) decode(data []byte, size int64) ([]byte, error) {
	c.closing.RLock()
	defer c.closing.RUnlock()
	if c.closed {
		return nil, sql.ErrConnDone
	}
	plain, err := c.decoder.DecodeAll(data, make([]byte, 0, size+decodeSlack))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPack, err)
	}
	return plain, nil
}

// decodeBeginning returns the first bytes of a pack. No sum reports whether they are
// damaged.
func (c *Codec) decodeBeginning(data []byte, size int) ([]byte, error) {
	d, _ := c.beginnings.Get().(*zstd.Decoder)
	if d == nil {
		var err error
		if d, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxPack)); err != nil {
			return nil, fmt.Errorf("make decoder: %w", err)
		}
	}
	plain := make([]byte, size)
	err := d.Reset(bytes.NewReader(data))
	if err == nil {
		_, err = io.ReadFull(d, plain)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPack, err)
	}
	_ = d.Reset(nil) // lets go of the data
	c.beginnings.Put(d)
	return plain, nil
}

// blockBytes is how much of a full pack is compressed at a time: what comes
// after a block is not needed to read it.
const blockBytes = 32 << 10

// stored writes a frame that holds the data as it is (RFC 8878, section 3.1.1),
// with a sum.
func stored(data []byte) []byte {
	const (
		header   = 4<<5 | 1<<5 | 1<<2 // length in 4 bytes, one segment, a sum at the end
		maxBlock = 128 << 10
		rawLast  = 1
	)
	if len(data) == 0 {
		return []byte{} // as the encoders do: a frame of no block is damaged
	}
	out := append(make([]byte, 0, len(data)+16+3*(len(data)/maxBlock)), 0x28, 0xb5, 0x2f, 0xfd, header)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(data)))
	for rest := data; len(rest) > 0; {
		n := min(len(rest), maxBlock)
		block := uint32(n) << 3
		if n == len(rest) {
			block |= rawLast
		}
		out = append(out, byte(block), byte(block>>8), byte(block>>16))
		out, rest = append(out, rest[:n]...), rest[n:]
	}
	return binary.LittleEndian.AppendUint32(out, uint32(xxhash.Sum64(data)))
}

// whole compresses as one.
func (c *Codec) whole(data []byte) []byte { return c.compress(data, max(1, len(data))) }

// InBlocks compresses so that the beginning can be read alone.
func (c *Codec) InBlocks(data []byte) []byte { return c.compress(data, blockBytes) }

func (c *Codec) compress(data []byte, block int) []byte {
	var out bytes.Buffer
	c.encoder.ResetContentSize(&out, int64(len(data)))
	for part := range chunksOf(data, block) {
		_, _ = c.encoder.Write(part) // a buffer takes everything
		_ = c.encoder.Flush()
	}
	_ = c.encoder.Close()
	return out.Bytes()
}
