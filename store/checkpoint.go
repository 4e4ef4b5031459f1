package store

import (
	"context"
	"database/sql"
	"os"
)

const (
	// checkpointAt is the size of the write-ahead log from which on it is moved
	// into the file.
	checkpointAt = 4 << 20
	// checkpointHard is the size from which on the writer waits for that, so
	// that the log can begin anew: a log that is written all the time never ends.
	checkpointHard = 32 << 20
)

// checkpointer moves the write-ahead log into the file, beside the writer.
type checkpointer struct {
	pool *sql.DB
	w    *writer
	work chan struct{}
	stop chan struct{}
	done chan struct{}
}

func startCheckpointer(c *connector, w *writer) *checkpointer {
	cp := &checkpointer{pool: c.open(), w: w, work: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	cp.pool.SetMaxOpenConns(1)
	go cp.run()
	return cp
}

// wake starts a checkpoint if the log has grown enough.
func (cp *checkpointer) wake(path string) {
	if walSize(path) < checkpointAt {
		return
	}
	select {
	case cp.work <- struct{}{}:
	default:
	}
}

func walSize(path string) int64 {
	info, err := os.Stat(path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

func (cp *checkpointer) run() {
	defer close(cp.done)
	for {
		select {
		case <-cp.stop:
			return
		case <-cp.work:
			cp.checkpoint()
		}
	}
}

// checkpoint never waits for readers. What it cannot do now, the next one does.
func (cp *checkpointer) checkpoint() {
	logged, moved, err := cp.passive()
	if err != nil || logged == moved || int64(logged)*pageSize < checkpointHard {
		return
	}
	if cp.w.lock(context.Background()) == nil {
		_, _, _ = cp.passive()
		cp.w.unlock()
	}
}

// passive gives how many pages the log holds and how many of them are moved.
func (cp *checkpointer) passive() (logged, moved int, err error) {
	var busy int
	err = cp.pool.QueryRow("PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &logged, &moved)
	return logged, moved, err
}

func (cp *checkpointer) close() error {
	close(cp.stop)
	<-cp.done
	return cp.pool.Close()
}
