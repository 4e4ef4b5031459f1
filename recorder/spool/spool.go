package spool

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClosed says that the spool is closed.
var ErrClosed = errors.New("spool closed")

// DefaultStall is how long a write may hold a stream by default.
const DefaultStall = 50 * time.Millisecond

var errStalled = errors.New("write stalled")

// maxHanging is how many writes may hang at once. Each holds a thread. While there
// are as many, nothing is recorded.
const maxHanging = 4

// Spool keeps exchanges on disk from their first byte until they are stored. They
// survive the end of the process but not that of the machine: nothing is synced.
type Spool struct {
	dir           string
	opts          Options
	hanging       atomic.Int32 // writes that stalled and have not returned
	folderChecked atomic.Int64 // when the folder was last looked for
	written       atomic.Int64 // bytes since the spool was opened
	report        func(what string, err error)
	blocks        blockPool
	zeros         []byte       // that files grow by
	memory        atomic.Int64 // bytes that recordings hold

	folderMu  sync.Mutex // held while folders and files are made
	filesMade int

	mu      sync.Mutex
	folder  *folder
	orphans []*folder // folders of this process that were removed
	files   int
	free    []*spoolFile
	queue   []queuedRecord
	ready   chan struct{} // has a token while the queue is not empty
	done    chan struct{} // closed by Close
	closed  bool
	stats   Stats
}

// Options are the limits of a Spool. Zero fields have defaults.
type Options struct {
	MaxBytes  int64         // backlog beyond which exchanges are lost, and counted; 0 for no bound
	FileBytes int64         // size at which a file takes no further exchange until it is drained; default 1 MiB
	Stall     time.Duration // how long a write may hold a stream; default 50 ms
	Rest      time.Duration // how long an exchange rests after its end before Next returns it: the agent's next request comes first
	Now       func() time.Time
	Log       *slog.Logger
	Create    func(path string) (File, error) // makes a new file; nil: on disk, with mode 0600
}

// Stats counts what a spool did since it was opened.
type Stats struct {
	Recorded     int64 `json:"recorded"` // exchanges recorded whole
	Lossy        int64 `json:"lossy"`    // exchanges recorded in part
	Lost         int64 `json:"lost"`     // exchanges not recorded
	Skipped      int64 `json:"skipped"`  // exchanges not recorded by choice: paused or excluded
	Paused       bool  `json:"paused"`
	InFlight     int   `json:"in_flight"`     // exchanges being recorded
	Backlog      int   `json:"backlog"`       // records not released yet
	BacklogBytes int64 `json:"backlog_bytes"` // what they take up
	Bytes        int64 `json:"bytes"`         // size of all files
	Written      int64 `json:"written"`       // bytes written so far, also of exchanges in flight
	Stalled      int   `json:"stalled"`       // writes that hang; nothing is recorded while there are too many
}

// queuedRecord is a record that waits in a file.
type queuedRecord struct {
	file       *spoolFile
	start, end int64
	ending     *Ending // of a lossy exchange, whose end could not be written; else nil
	at         time.Duration
	ended      time.Time
}

// Open makes a folder for this process in dir, and dir if it does not exist.
// Folders of other processes are left alone; see Leftovers.
func Open(dir string, opts Options) (*Spool, error) {
	if opts.FileBytes <= 0 {
		opts.FileBytes = 1 << 20
	}
	if opts.Stall <= 0 {
		opts.Stall = DefaultStall
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Create == nil {
		opts.Create = createFile
	}
	f, err := makeFolder(dir)
	if err != nil {
		return nil, err
	}
	s := &Spool{dir: dir, opts: opts, folder: f,
		zeros: make([]byte, 2*growBytes), ready: make(chan struct{}, 1), done: make(chan struct{})}
	s.report = logRarely(opts.Log, opts.Now)
	return s, nil
}

// Stall is how long a write may hold a stream.
func (s *Spool) Stall() time.Duration { return s.opts.Stall }

// Pause stops recording, or resumes it. What is being recorded goes on; what begins
// while it is paused is skipped.
func (s *Spool) Pause(pause bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Paused = pause
}

// Skip counts an exchange that is not recorded by choice.
func (s *Spool) Skip() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Skipped++
}

// logRarely returns a function that logs one kind of trouble at most once a second,
// without waiting for the log.
func logRarely(log *slog.Logger, now func() time.Time) func(string, error) {
	var mu sync.Mutex
	last := map[string]time.Time{}
	return func(what string, err error) {
		mu.Lock()
		defer mu.Unlock()
		if t := now(); t.Sub(last[what]) >= time.Second {
			last[what] = t
			go log.Error("recording suffers, traffic goes on", "doing", what, "error", err)
		}
	}
}

// countLost counts an exchange that is not recorded. The mutex is held.
func (s *Spool) countLost(full bool) {
	s.stats.Lost++
	if full {
		s.report("keep backlog", errors.New("spool has reached its bound"))
	}
}

// finish queues the record of a recording that has ended, whose stateMu is held.
func (s *Spool) finish(c *Recording, e *Ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.InFlight--
	switch {
	case c.safe == c.start:
		s.stats.Lost++
	case c.dead:
		s.stats.Lossy++
		s.enqueue(queuedRecord{file: c.file, start: c.start, end: c.safe, ending: e, at: c.at()})
	default:
		s.stats.Recorded++
		s.enqueue(queuedRecord{file: c.file, start: c.start, end: c.safe})
	}
	if !c.writing {
		s.giveBack(c.file, c.safe)
	}
}

func (s *Spool) enqueue(e queuedRecord) {
	e.file.live++
	e.ended = s.opts.Now()
	s.stats.Backlog++
	s.stats.BacklogBytes += e.end - e.start
	s.queue = append(s.queue, e)
	s.signal()
}

func (s *Spool) signal() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// returned gives back a file whose stalled write has returned.
func (s *Spool) returned(l *spoolFile, end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.giveBack(l, end)
}

// Next returns the next exchange that has ended, in the order of their ends, and
// waits for one. It fails when ctx is done and, with ErrClosed, after Close. The
// caller owns the record and must release it.
func (s *Spool) Next(ctx context.Context) (*Record, error) {
	for {
		e, ok, resting := s.pop()
		if ok {
			r, err := s.load(e)
			if err == nil {
				return r, nil
			}
			s.report("read spool", err)
			s.unreadable(e)
			continue
		}
		ready := s.ready
		var rested <-chan time.Time
		if resting { // soon there are several
			ready, rested = nil, time.After(s.opts.Rest)
		}
		select {
		case <-rested:
		case <-ready:
		case <-s.done:
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// pop removes the first record of the queue, unless it is resting.
func (s *Spool) pop() (e queuedRecord, ok, resting bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 || s.closed {
		return e, false, false
	}
	e = s.queue[0]
	if s.opts.Rest > 0 && s.opts.Now().Sub(e.ended) < s.opts.Rest {
		return e, false, true
	}
	s.queue[0] = queuedRecord{}
	s.queue = s.queue[1:]
	if len(s.queue) > 0 {
		s.signal()
	}
	return e, true, false
}

// load reads a queued record.
func (s *Spool) load(e queuedRecord) (*Record, error) {
	at := span{file: e.file.file, start: e.start, end: e.end, epoch: e.file.epoch, blocks: &s.blocks}
	if err := at.load(); err != nil {
		return nil, err
	}
	r, err := readRecord(at)
	if err != nil {
		return nil, err
	}
	if e.ending != nil {
		r.conclude(e.ending, e.at)
		r.Lossy = true
	}
	r.release = func() error {
		at.release()
		return s.release(e)
	}
	return r, nil
}

// unreadable counts a record that was written and cannot be read any more.
func (s *Spool) unreadable(e queuedRecord) {
	s.mu.Lock()
	if e.ending != nil {
		s.stats.Lossy--
	} else {
		s.stats.Recorded--
	}
	s.stats.Lost++
	s.mu.Unlock()
	_ = s.release(e)
}

// release marks a record as stored and frees its space.
func (s *Spool) release(e queuedRecord) error {
	_, err := e.file.file.WriteAt([]byte{1}, e.start+frameMark)
	s.mu.Lock()
	defer s.mu.Unlock()
	e.file.live--
	s.stats.Backlog--
	s.stats.BacklogBytes -= e.end - e.start
	if e.file.live == 0 {
		s.settle(e.file)
	}
	return err
}

// Stats returns what happened so far.
func (s *Spool) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Stalled = int(s.hanging.Load())
	st.Written = s.written.Load()
	return st
}

// Close ends recording. It removes the folder if all its records are released;
// otherwise they are the leftovers of the next start.
func (s *Spool) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.done)
	idle := s.stats.Backlog == 0 && s.stats.InFlight == 0 && s.hanging.Load() == 0
	f, orphans := s.folder, s.orphans
	s.mu.Unlock()
	for _, o := range orphans {
		o.lock.Close()
	}
	if !idle {
		return f.lock.Close()
	}
	if err := f.remove(); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
