package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/transcript"
)

// model answers the first request of a client with calls whose ids all clients
// share, and counts on.
func model(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	topic := request.Messages[0].Content
	fmt.Fprintf(w, `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":%s,"finish_reason":"tool_calls"}]}`, round(topic, len(request.Messages)))
}

// round is the answer to a request of so many messages.
func round(topic string, n int) string {
	return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"f","arguments":"{\"of\":%s,\"n\":%d}"}},{"id":"call_1","type":"function","function":{"name":"g","arguments":"{}"}}]}`,
		strings.ReplaceAll(quoted(topic), `"`, `\"`), n)
}

// Sixteen clients at once, through a real recorder, with the same call ids in
// every round: each result is joined to the call that asked for it.
func TestRunner_PairsOfSixteenClientsAtOnce(t *testing.T) {
	const clients, rounds = 16, 6
	upstream := httptest.NewServer(http.HandlerFunc(model))
	defer upstream.Close()
	spool, err := spool.Open(filepath.Join(t.TempDir(), "spool"), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer spool.Close()
	db := mustOpen(t)
	runner := &ingest.Runner{Store: func(context.Context) (transcript.Store, error) { return db, nil }, Spool: spool, Log: slog.New(slog.DiscardHandler)}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); runner.Run(ctx) }()
	client := &http.Client{Transport: recorder.NewTransport(nil, recorder.Options{Spool: spool})}
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() { converse(t, client, upstream.URL, fmt.Sprintf("topic %d", c), rounds) })
	}
	all.Wait()
	for deadline := time.Now().Add(time.Minute); runner.Stats().Committed < clients*rounds; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d exchanges committed, want %d", runner.Stats().Committed, clients*rounds)
		}
	}
	stop()
	<-done
	paired := 0
	for e, err := range db.Exchanges(context.Background(), transcript.Filter{Oldest: true}) {
		if err != nil {
			t.Fatal(err)
		}
		calls, err := db.Calls(context.Background(), []string{e.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			if len(c.Results) > 1 {
				t.Errorf("x%d: call %s has %d results", e.N, c.CallID, len(c.Results))
			}
			for _, r := range c.Results {
				brought, err := db.Exchange(context.Background(), r.Exchange)
				if err != nil {
					t.Fatal(err)
				}
				if brought.Link.Parent != e.ID || brought.Link.Agent != e.Link.Agent || brought.Link.Step != e.Link.Step+1 {
					t.Errorf("x%d: call %s is answered by x%d, which does not go on from it", e.N, c.CallID, brought.N)
				}
				paired++
			}
		}
	}
	if want := clients * (rounds - 1) * 2; paired != want {
		t.Errorf("%d calls have their result, want %d", paired, want)
	}
}

func converse(t *testing.T, client *http.Client, url, topic string, rounds int) {
	messages := []string{ask(topic)}
	for range rounds {
		answer := round(topic, len(messages))
		response, err := client.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[`+strings.Join(messages, ",")+`]}`))
		if err != nil {
			t.Error(err)
			return
		}
		_, err = io.Copy(io.Discard, response.Body)
		if e := response.Body.Close(); err != nil || e != nil {
			t.Error(err, e)
			return
		}
		messages = append(messages, answer, `{"role":"tool","tool_call_id":"call_1","content":"b"}`, `{"role":"tool","tool_call_id":"call_0","content":"a"}`)
	}
}
