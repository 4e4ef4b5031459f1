package spool

import (
	"sync"
	"time"

	"github.com/retake-debugger/retake/redact"
)

// Recording writes one exchange to the spool. A nil Recording writes nothing. The
// goroutines that relay the two directions share it, each with a buffer of its own.
//
// Once a write has failed or stalled the recording is dead: the exchange goes on
// and nothing more of it is written.
type Recording struct {
	s      *Spool
	redact *redact.Redactor
	now    func() time.Time
	began  time.Time
	file   *spoolFile
	epoch  uint64
	start  int64

	writeMu sync.Mutex // held during a write, which may block
	offset  int64      // where the next write goes; guarded by writeMu

	stateMu sync.Mutex // never held during a write
	writing bool
	safe    int64 // end of the last write that returned
	dead    bool
	hanging bool // counted in the spool's hanging
	closed  bool
}

// Begin starts to record an exchange. It returns nil if nothing can be recorded or
// recording is paused, and counts that.
func (s *Spool) Begin(now func() time.Time, r *redact.Redactor) *Recording {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stats.Paused {
		s.stats.Skipped++
		return nil
	}
	full := s.opts.MaxBytes > 0 && s.stats.BacklogBytes >= s.opts.MaxBytes
	if s.closed || full || s.hanging.Load() >= maxHanging {
		s.countLost(full)
		return nil
	}
	c := &Recording{s: s, redact: r, now: now, began: now(), file: s.acquire()}
	c.epoch, c.start = c.file.epoch, c.file.end
	c.offset, c.safe = c.start, c.start
	s.stats.InFlight++
	return c
}

// at is the time since the exchange began.
func (c *Recording) at() time.Duration { return c.now().Sub(c.began) }

// AppendMeta appends a frame with the redacted payload p to buf.
func (c *Recording) AppendMeta(buf []byte, kind byte, p Payload) []byte {
	start := len(buf)
	buf = append(buf, make([]byte, HeaderBytes)...)
	buf = p.Append(buf, c.redact)
	return sealFrame(buf, start, kind, c.epoch, c.at())
}

// Payload is the payload of a frame that holds no body bytes. Append appends it to
// b, redacted.
type Payload interface {
	Append(b []byte, r *redact.Redactor) []byte
}

// Seal makes a frame of the body bytes in buf that follow start and the room for a
// header.
func (c *Recording) Seal(buf []byte, start int, kind byte) []byte {
	return sealFrame(buf, start, kind, c.epoch, c.at())
}

// Write writes frames. It returns false if the recording is dead. It may block.
func (c *Recording) Write(buf []byte) bool {
	if c.lossy() {
		return false // a stalled write may hold writeMu
	}
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	if !c.enterWrite() {
		return false
	}
	err := c.s.open(c.file, c.offset == 0)
	if err == nil {
		err = c.s.write(c.file, buf, c.offset)
	}
	c.leaveWrite(int64(len(buf)), err)
	return err == nil
}

func (c *Recording) enterWrite() bool {
	c.stateMu.Lock()
	defer c.stateMu.Unlock()
	if !c.dead && c.s.hanging.Load() >= maxHanging {
		c.dead = true
	}
	c.writing = !c.dead && !c.closed
	return c.writing
}

func (c *Recording) leaveWrite(n int64, err error) {
	c.stateMu.Lock()
	defer c.stateMu.Unlock()
	c.writing = false
	if c.hanging {
		c.s.hanging.Add(-1)
	}
	switch {
	case c.closed: // the exchange ended without this write
		c.s.returned(c.file, c.safe)
	case c.dead: // abandoned
	case err != nil:
		c.dead = true
		c.s.report("write spool", err)
	default:
		c.offset += n
		c.safe = c.offset
		c.s.written.Add(n)
	}
}

// Abandon stops recording because a write stalls.
func (c *Recording) Abandon() {
	if c == nil {
		return
	}
	c.stateMu.Lock()
	defer c.stateMu.Unlock()
	if !c.dead && c.writing {
		c.hanging = true
		c.s.hanging.Add(1)
	}
	if !c.dead {
		c.s.report("write spool", errStalled)
	}
	c.dead = true
}

// Close ends the recording, so that Next returns its record. The ending was written
// already, unless the recording is dead.
func (c *Recording) Close(e *Ending) {
	if c == nil {
		return
	}
	c.stateMu.Lock()
	defer c.stateMu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	c.s.finish(c, e)
}

// HoldMemory reports whether the recording may hold n more bytes in memory. All
// recordings of a spool share a bound. FreeMemory gives them back.
func (c *Recording) HoldMemory(n int64) bool {
	if c.s.memory.Add(n) > memoryBudget {
		c.s.memory.Add(-n)
		return false
	}
	return true
}

// FreeMemory gives back what HoldMemory granted.
func (c *Recording) FreeMemory(n int64) { c.s.memory.Add(-n) }

// memoryBudget bounds the memory that recordings hold.
const memoryBudget = 32 << 20

// lossy reports whether part of the exchange could not be recorded.
func (c *Recording) lossy() bool {
	c.stateMu.Lock()
	defer c.stateMu.Unlock()
	return c.dead
}

// Hangs reports whether an abandoned write has not returned yet.
func (c *Recording) Hangs() bool {
	c.stateMu.Lock()
	defer c.stateMu.Unlock()
	return c.writing && c.hanging
}

// StartedAt is when the exchange began.
func (c *Recording) StartedAt() time.Time { return c.began }
