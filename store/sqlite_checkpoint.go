package store

import (
	"context"
	"database/sql"
	"time"
)

// Sizes in pages. A page in the write-ahead log that is in the file too is
// moved; the log begins anew when all of its pages are.
const (
	// checkpointAt is how many pages wait before they are moved: of those that
	// each commit changes, only the last is.
	checkpointAt = 16 << 20 / pageSize
	// logLimit is how long the log may become before the writer waits until all
	// of it is moved: a log that is written without a pause never begins anew.
	logLimit = 64 << 20 / pageSize
)

// The checkpointer looks how long the log is after so many commits, or so many
// bytes of packs. To look costs about as much as one of a commit's statements.
const (
	lookCommits = 16
	lookBytes   = 1 << 20
)

// idleAfter is for how long nothing is committed before the file is made small.
const idleAfter = 10 * time.Second

// checkpointer moves the write-ahead log into the file, beside the writer. It
// never waits for readers: what one holds back, a later checkpoint moves.
type checkpointer struct {
	pool *sql.DB
	st   *statements
	w    *writer
	at   int // pages that wait before the next checkpoint
	work chan struct{}
	idle *time.Timer // fires when nothing was committed for idleAfter
	stop chan struct{}
	done chan struct{}

	commits int   // since it was woken; this and bytes belong to the holder of the writer's turn
	bytes   int64 // of packs
}

func startCheckpointer(c *connector, w *writer) *checkpointer {
	cp := &checkpointer{pool: c.open(), w: w, at: checkpointAt, idle: time.NewTimer(idleAfter),
		work: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	cp.pool.SetMaxOpenConns(1)
	cp.st = newStatements(cp.pool.PrepareContext)
	go cp.run()
	return cp
}

// wrote says that a transaction was committed, with so many bytes of packs.
func (cp *checkpointer) wrote(bytes int64) {
	cp.idle.Reset(idleAfter)
	cp.commits, cp.bytes = cp.commits+1, cp.bytes+bytes
	if cp.commits < lookCommits && cp.bytes < lookBytes {
		return
	}
	cp.commits, cp.bytes = 0, 0
	select {
	case cp.work <- struct{}{}:
	default:
	}
}

func (cp *checkpointer) run() {
	defer close(cp.done)
	for {
		select {
		case <-cp.stop:
			return
		case <-cp.work:
			cp.checkpoint()
		case <-cp.idle.C:
			cp.tidy()
		}
	}
}

// checkpoint does nothing about an error: the log only grows, and the next
// transaction wakes it again.
func (cp *checkpointer) checkpoint() {
	logged, moved, err := cp.log("NOOP")
	if err != nil || logged-moved < cp.at {
		return
	}
	// What was written meanwhile is less each time.
	for range 3 {
		if _, _, err = cp.log("PASSIVE"); err != nil {
			return
		}
		if logged, moved, err = cp.log("NOOP"); err != nil || logged == moved {
			break
		}
	}
	if err == nil && logged >= logLimit && cp.w.lock(context.Background()) == nil {
		logged, moved, err = cp.log("PASSIVE")
		cp.w.unlock()
	}
	cp.at = checkpointAt
	if err == nil && logged-moved >= checkpointAt { // a reader is in the way
		cp.at += logged - moved
	}
}

// log runs a checkpoint and returns how many pages the log holds and how many of
// them are moved.
func (cp *checkpointer) log(mode string) (logged, moved int, err error) {
	var busy int
	err = cp.st.row(context.Background(), "PRAGMA wal_checkpoint("+mode+")", nil, &busy, &logged, &moved)
	return logged, moved, err
}

func (cp *checkpointer) close() error {
	close(cp.stop)
	<-cp.done
	cp.idle.Stop()
	cp.st.close()
	return cp.pool.Close()
}
