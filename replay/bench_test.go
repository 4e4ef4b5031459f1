package replay_test

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// bench is a database that records what a Transport sends.
type bench struct {
	t         *testing.T
	db        *store.DB
	transport http.RoundTripper
}

// newBench makes one.
func newBench(t *testing.T) *bench {
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
	return &bench{t: t, db: db, transport: recorder.NewTransport(base, recorder.Options{Spool: spool})}
}

// exchange waits until an exchange is stored.
func (b *bench) exchange(id string) *transcript.Exchange {
	b.t.Helper()
	for range 4000 {
		if e, err := b.db.Exchange(context.Background(), id); err == nil {
			return e
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.t.Fatalf("exchange %s was not stored", id)
	return nil
}

func (b *bench) player() *replay.Player {
	return &replay.Player{Store: b.db, Transport: b.transport, WithID: recorder.WithID}
}

// firsts are the first requests of a run in each dialect.
var firsts = map[string]string{
	"/v1/chat/completions": `{"model":"m","messages":[{"role":"user","content":"go"}],"tools":[{"type":"function","function":{"name":"look","parameters":{}}}]}`,
	"/v1/messages":         `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"}],"tools":[{"name":"look","input_schema":{}}]}`,
	"/v1/responses":        `{"model":"m","input":[{"role":"user","content":"go"}],"tools":[{"type":"function","name":"look","parameters":{}}]}`,
}

// run records a run that the model leads: the tool gives tool(call).
func (b *bench) run(s *scripted, path string, tool func(n int) string) []*transcript.Exchange {
	b.t.Helper()
	first := b.first(s, path)
	n := 0
	take, err := b.player().Play(context.Background(), prepare(b.t, b.db, first), replay.Options{Sources: []replay.Source{toolFunc(func(*replay.Call) *replay.Result {
		n++
		return &replay.Result{Text: tool(n), Source: transcript.FromExec}
	})}})
	if err != nil || take.StopReason != transcript.StopAnswered {
		b.t.Fatalf("record a run: %+v, %v", take, err)
	}
	var list []*transcript.Exchange
	for _, id := range take.Steps {
		list = append(list, b.exchange(id))
	}
	return list
}

// first records a first request.
func (b *bench) first(s *scripted, path string) *transcript.Exchange {
	b.t.Helper()
	req, err := http.NewRequestWithContext(recorder.WithID(context.Background(), "0190a000-0000-7000-8000-000000000001"), "POST", s.server.URL+path, strings.NewReader(firsts[path]))
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := b.transport.RoundTrip(req)
	if err != nil {
		b.t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return b.exchange("0190a000-0000-7000-8000-000000000001")
}

func prepare(t *testing.T, r transcript.Reader, e *transcript.Exchange, edits ...transcript.Edit) *replay.Request {
	t.Helper()
	req, err := replay.NewRequest(context.Background(), r, e, edits)
	if err != nil {
		t.Fatal(err)
	}
	return req
}
