package retake

import (
	"context"
	"time"
)

// statusWithin bounds how long Status waits for the database.
const statusWithin = 200 * time.Millisecond

// Captured counts the exchanges recorded so far, and the model calls among those
// that are stored.
func (db *DB) Captured() (exchanges, modelCalls int64) {
	s := db.spool.Stats()
	return s.Recorded + s.Lossy, db.runner.Stats().ModelCalls
}

// Status returns what a proxy's /_retake/status adds to the counts of the spool.
func (db *DB) Status() map[string]any {
	return map[string]any{"database": db.path, "database_open": db.store.Load() != nil, "ingest": db.runner.Stats(), "search": db.searchStatus()}
}

// searchStatus reports how far the search index is.
func (db *DB) searchStatus() map[string]any {
	s := map[string]any{"indexed": db.index.Stats().Indexed, "failures": db.index.Stats().Failures}
	ctx, cancel := context.WithTimeout(context.Background(), statusWithin)
	defer cancel()
	if rows := db.store.Load(); rows != nil {
		if state, err := rows.SearchState(ctx); err == nil {
			if s["index"], s["lag"] = state.Index, state.Lag; state.Few() {
				s["lag"] = int64(0) // none of them waits to be indexed
			}
		}
	}
	return s
}
