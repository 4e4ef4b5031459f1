package recorder

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// Spool keeps exchanges on disk from their first byte until they are stored.
type Spool struct{}

// SpoolOptions are the limits of a Spool. Zero fields have defaults.
type SpoolOptions struct {
	MaxBytes  int64         // backlog beyond which exchanges are lost, and counted; 0 for no bound
	LaneBytes int64         // size at which a lane takes no further exchange until it is drained; default 8 MiB
	Stall     time.Duration // how long a write may hold a stream; default 50 ms
	Now       func() time.Time
	Log       *slog.Logger
}

// Stats counts what a spool did since it was opened.
type Stats struct {
	Recorded     int64 `json:"recorded"`      // exchanges recorded whole
	Lossy        int64 `json:"lossy"`         // exchanges recorded in part
	Lost         int64 `json:"lost"`          // exchanges not recorded
	InFlight     int   `json:"in_flight"`     // exchanges being recorded
	Backlog      int   `json:"backlog"`       // records not released yet
	BacklogBytes int64 `json:"backlog_bytes"` // what they take up
	Bytes        int64 `json:"bytes"`         // size of all lanes
}

// Record is an exchange that has ended. Its bodies are read from the spool
// when they are asked for, and only until it is released.
type Record struct {
	transcript.Capture
}

// Release gives the record's space back. Call it once what it holds is stored
// for good: from then on a crash does not bring it back.
func (r *Record) Release() error { return nil }

// OpenSpool makes a folder of this process's own in dir, which is made if need
// be. Folders of others are left alone until Leftovers.
func OpenSpool(dir string, opts SpoolOptions) (*Spool, error) { return &Spool{}, nil }

// Next gives the next exchange that has ended, in the order of their ends, and
// waits for one. It fails when ctx is done and, with ErrClosed, after Close.
func (s *Spool) Next(ctx context.Context) (*Record, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Leftovers gives the records that dead processes left, in the order of their
// ends, each of them once; exchanges that were cut have outcome
// RecorderCrashed. A folder is removed when all its records are released.
func (s *Spool) Leftovers() iter.Seq2[*Record, error] {
	return func(func(*Record, error) bool) {}
}

// Stats counts what happened so far.
func (s *Spool) Stats() Stats { return Stats{} }

// Close ends recording. It removes the folder if all its records are released;
// otherwise they are leftovers of the next start.
func (s *Spool) Close() error { return nil }
