package store_test

import (
	"path/filepath"
	"testing"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/store/storetest"
	"github.com/retake-debugger/retake/transcript"
)

func openDB(tb testing.TB) *store.DB {
	tb.Helper()
	db, err := store.Open(filepath.Join(tb.TempDir(), "retake.db"), store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) transcript.Store { return openDB(t) })
}
