package spool

import (
	"encoding/binary"
	"hash/crc32"
	"time"
)

// The kinds of frames. An exchange starts with one FrameBegin; of several FrameEnd
// the last counts.
const (
	FrameBegin      = 'B' // what is known before any byte is relayed
	FrameRequest    = 'q' // request body bytes
	FrameRequestEnd = 'Q' // the request body has ended; its trailers
	FrameHead       = 'H' // status and header of the response
	FrameResponse   = 'p' // response body bytes that arrived together
	FrameEnd        = 'E' // outcome, error, trailers
	HeaderBytes     = 32
	frameMark       = 5 // where the mark of a released record is in its FrameBegin
)

// frame is the header of a frame:
//
//	0 magic  4 kind  5 mark  6 zero  8 epoch  16 at (ns)  24 length  28 CRC32C
//
// The CRC covers header and payload but not the mark, which is set later. The epoch
// is a random number that changes whenever a file is written anew from its start.
// So nothing after the last frame is read as a frame, not even what a hostile body
// contains.
//
// The CRC of a large payload would cost more than writing it. Instead the epoch
// follows the payload: a kernel that is stopped within a write has written its
// beginning, so a frame whose end is there is whole.
type frame struct {
	kind   byte
	marked bool
	epoch  uint64
	at     time.Duration // since the exchange began
	length int64
	crc    uint32
}

var (
	frameMagic = [4]byte{'R', 't', 'k', '1'}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// largePayload is the size from which a payload has no CRC but a tail.
const (
	largePayload = 4 << 10
	tailBytes    = 8
)

// tailOf returns the size of what follows a payload.
func tailOf(payload int64) int64 {
	if payload >= largePayload {
		return tailBytes
	}
	return 0
}

// sealFrame makes a frame of b[start:], which has room for the header and then the
// payload.
func sealFrame(b []byte, start int, kind byte, epoch uint64, at time.Duration) []byte {
	f := b[start:]
	length := len(f) - HeaderBytes
	copy(f, frameMagic[:])
	f[4], f[frameMark], f[6], f[7] = kind, 0, 0, 0
	binary.LittleEndian.PutUint64(f[8:], epoch)
	binary.LittleEndian.PutUint64(f[16:], uint64(at))
	binary.LittleEndian.PutUint32(f[24:], uint32(length))
	sum := headerSum(f)
	if length < largePayload {
		sum = crc32.Update(sum, castagnoli, f[HeaderBytes:])
	}
	binary.LittleEndian.PutUint32(f[28:], sum)
	if length >= largePayload {
		b = binary.LittleEndian.AppendUint64(b, epoch)
	}
	return b
}

// parseFrame reads a header. Its CRC must be checked before it is used.
func parseFrame(b []byte) (f frame, ok bool) {
	if len(b) < HeaderBytes || [4]byte(b) != frameMagic {
		return f, false
	}
	f.kind = b[4]
	f.marked = b[frameMark] != 0
	f.epoch = binary.LittleEndian.Uint64(b[8:])
	f.at = time.Duration(binary.LittleEndian.Uint64(b[16:]))
	f.length = int64(binary.LittleEndian.Uint32(b[24:]))
	f.crc = binary.LittleEndian.Uint32(b[28:])
	return f, true
}

// headerSum returns the CRC of the header, to be continued over the payload.
func headerSum(b []byte) uint32 {
	sum := crc32.Update(0, castagnoli, b[:frameMark])
	return crc32.Update(sum, castagnoli, b[frameMark+1:28])
}
