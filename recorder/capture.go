package recorder

import (
	"sync"
	"time"

	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

// capture writes one exchange into a lane. A nil capture writes nothing. The
// goroutines that relay the two directions share it, each with a staging
// buffer of its own.
//
// Once a write has failed or stalled the capture is dead: the exchange goes on
// and nothing more of it is written.
type capture struct {
	s      *Spool
	redact *redact.Redactor
	now    func() time.Time
	began  time.Time
	lane   *lane
	epoch  uint64
	start  int64

	write sync.Mutex // held during a write, which may block
	off   int64      // where the next write goes; belongs to write

	state   sync.Mutex // never held during a write
	writing bool
	safe    int64 // end of the last write that returned
	dead    bool
	stuck   bool // counted in the spool's stuck
	closed  bool
}

// begin starts to record an exchange. It gives nil, and counts it, if nothing
// can or shall be recorded now.
func (s *Spool) begin(now func() time.Time, r *redact.Redactor) *capture {
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
	if s.closed || full || s.stuck.Load() >= maxStuck {
		s.lose(full)
		return nil
	}
	c := &capture{s: s, redact: r, now: now, began: now(), lane: s.take()}
	c.epoch, c.start = c.lane.epoch, c.lane.end
	c.off, c.safe = c.start, c.start
	s.stats.InFlight++
	return c
}

// at is the time since the exchange began.
func (c *capture) at() time.Duration { return c.now().Sub(c.began) }

// meta appends a frame with the payload p, redacted, to a staging buffer.
func (c *capture) meta(buf []byte, kind byte, p appender) []byte {
	start := len(buf)
	buf = append(buf, make([]byte, frameHeaderBytes)...)
	buf = p.append(buf, c.redact)
	return sealFrame(buf, start, kind, c.epoch, c.at())
}

// appender is something that writes itself behind b, redacted.
type appender interface {
	append(b []byte, r *redact.Redactor) []byte
}

// piece makes a frame of body bytes that are in place in a staging buffer from
// start on, behind room for its header.
func (c *capture) piece(buf []byte, start int, kind byte) []byte {
	return sealFrame(buf, start, kind, c.epoch, c.at())
}

// flush writes a staging buffer. It says false if the capture is dead. Call it
// inside a watch.
func (c *capture) flush(buf []byte) bool {
	if c.lossy() {
		return false // a write that stalls may hold the lock
	}
	c.write.Lock()
	defer c.write.Unlock()
	if !c.enterWrite() {
		return false
	}
	err := c.s.open(c.lane, c.off == 0)
	if err == nil {
		err = c.s.write(c.lane, buf, c.off)
	}
	c.leaveWrite(int64(len(buf)), err)
	return err == nil
}

func (c *capture) enterWrite() bool {
	c.state.Lock()
	defer c.state.Unlock()
	if !c.dead && c.s.stuck.Load() >= maxStuck {
		c.dead = true
	}
	c.writing = !c.dead && !c.closed
	return c.writing
}

func (c *capture) leaveWrite(n int64, err error) {
	c.state.Lock()
	defer c.state.Unlock()
	c.writing = false
	if c.stuck {
		c.s.stuck.Add(-1)
	}
	switch {
	case c.closed: // the exchange has ended without this write
		c.s.giveBack(c.lane, c.safe)
	case c.dead: // abandoned
	case err != nil:
		c.dead = true
		c.s.complain("write spool", err)
	default:
		c.off += n
		c.safe = c.off
		c.s.written.Add(n)
	}
}

// abandon gives up recording because a write stalls.
func (c *capture) abandon() {
	if c == nil {
		return
	}
	c.state.Lock()
	defer c.state.Unlock()
	if !c.dead && c.writing {
		c.stuck = true
		c.s.stuck.Add(1)
	}
	if !c.dead {
		c.s.complain("write spool", errStalled)
	}
	c.dead = true
}

// close hands the exchange over to whoever calls Next. The ending was written
// already, unless the capture is dead.
func (c *capture) close(e *ending) {
	if c == nil {
		return
	}
	c.state.Lock()
	defer c.state.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	c.s.finish(c, e)
}

// lossy tells whether something of the exchange could not be recorded.
func (c *capture) lossy() bool {
	c.state.Lock()
	defer c.state.Unlock()
	return c.dead
}

// hangs tells whether a write that was given up has not returned yet.
func (c *capture) hangs() bool {
	c.state.Lock()
	defer c.state.Unlock()
	return c.writing && c.stuck
}

// failed makes an ending for an exchange that broke.
func failed(o transcript.Outcome, code, message string) *ending {
	return &ending{Outcome: o, Error: &transcript.Error{Type: "upstream_error", Code: code, Message: message}}
}
