package retake

import (
	"context"
	"sync"
	"time"

	"github.com/retake-debugger/retake/recorder/spool"
)

// recoverEvery is how often it looks for spools without an owner: another process
// that records into this database may die while this one runs.
const recoverEvery = 3 * time.Second

// recover stores what dead processes left in their spools.
func (db *DB) recover(ctx context.Context) {
	logged := map[string]bool{} // what stays unreadable is logged once
	var first sync.Once
	for ctx.Err() == nil {
		db.readLeftovers(ctx, logged)
		first.Do(func() { close(db.recovered) })
		select {
		case <-ctx.Done():
		case <-time.After(recoverEvery):
		}
	}
}

func (db *DB) readLeftovers(ctx context.Context, logged map[string]bool) {
	total := 0
	ok := db.runner.Take(ctx, func(yield func(*spool.Record) bool) {
		for rec, err := range db.spool.Leftovers() {
			if err != nil {
				if !logged[err.Error()] {
					db.log.Error("read a spool left behind", "error", err)
					logged[err.Error()] = true
				}
				continue
			}
			if total++; !yield(rec) {
				return
			}
		}
	})
	if ok && total > 0 {
		db.log.Info("took in what an earlier process left behind", "exchanges", total)
	}
}
