//go:build unix

package ingest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// A run of 200 steps that sends 60 MB takes up an eightieth of that, when nothing
// has happened for a while and when the file is closed.
func TestSize_OfARun(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until the store is idle")
	}
	const least = 80
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var committer ingest.Committer
	var history bytes.Buffer
	w, raw := newWords(1), int64(0)
	history.WriteString(chatAgent{}.begin(w))
	for n := range 215 {
		request := history.String() + chatAgent{}.end()
		answer := chatAgent{}.step(&history, w, n)
		raw += int64(len(request) + len(answer))
		if _, err := committer.Commit(t.Context(), db, []*transcript.Capture{capture(n, "/v1/chat/completions", request, answer)}); err != nil {
			t.Fatal(err)
		}
	}
	state, err := db.SearchState(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !state.Few() {
		t.Error("a recorder would index the run")
	}
	file, log := onDisk(path), onDisk(path+"-wal")
	t.Logf("%d bytes sent: the file has %d, its log %d", raw, file, log)
	for began := time.Now(); log > 0 && time.Since(began) < time.Minute; time.Sleep(100 * time.Millisecond) {
		log = onDisk(path + "-wal")
	}
	for _, state := range []string{"idle", "closed"} {
		if state == "closed" {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		size := onDisk(path) + onDisk(path+"-wal")
		t.Logf("%s: %d, 1/%d of what was sent", state, size, raw/size)
		if size*least > raw {
			t.Errorf("%s: more than 1/%d of what was sent", state, least)
		}
	}
}

// onDisk returns the size of a file, 0 if there is none.
func onDisk(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
