// Package replaytest records requests and plays takes, for the tests of replay and the
// packages below it.
package replaytest

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// Bench is a database that records what a Transport sends.
type Bench struct {
	T         *testing.T
	DB        *store.DB
	Transport http.RoundTripper
}

// New makes one.
func New(t *testing.T) *Bench {
	t.Helper()
	dir := t.TempDir()
	db, err := store.Open(filepath.Join(dir, "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spool, err := spool.Open(filepath.Join(dir, "spool"), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	runner := &ingest.Runner{Spool: spool, Store: func(context.Context) (transcript.Store, error) { return db, nil }}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); runner.Run(ctx) }()
	base := &http.Transport{DisableCompression: true}
	t.Cleanup(func() {
		cancel()
		<-done
		base.CloseIdleConnections()
		spool.Close()
		db.Close()
	})
	return &Bench{T: t, DB: db, Transport: recorder.NewTransport(base, recorder.Options{Spool: spool})}
}

// Exchange waits until an exchange is stored.
func (b *Bench) Exchange(id string) *transcript.Exchange {
	b.T.Helper()
	for range 4000 {
		if e, err := b.DB.Exchange(context.Background(), id); err == nil {
			return e
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.T.Fatalf("exchange %s was not stored", id)
	return nil
}

// Player plays takes against this database.
func (b *Bench) Player() *replay.Player {
	return &replay.Player{Store: b.DB, Transport: b.Transport, WithID: recorder.WithID}
}

// Prepare makes the request of an exchange, with edits.
func Prepare(t *testing.T, r transcript.Reader, e *transcript.Exchange, edits ...transcript.Edit) *replay.Request {
	t.Helper()
	req, err := replay.NewRequest(context.Background(), r, e, edits)
	if err != nil {
		t.Fatal(err)
	}
	return req
}
