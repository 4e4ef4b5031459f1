package replay_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/replaytest"
	"github.com/retake-debugger/retake/transcript"
)

// bench records runs.
type bench struct{ *replaytest.Bench }

func newBench(t *testing.T) *bench { return &bench{replaytest.New(t)} }

// firsts are the first requests of a run in each dialect.
var firsts = map[string]string{
	"/v1/chat/completions": `{"model":"m","messages":[{"role":"user","content":"go"}],"tools":[{"type":"function","function":{"name":"look","parameters":{}}}]}`,
	"/v1/messages":         `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"}],"tools":[{"name":"look","input_schema":{}}]}`,
	"/v1/responses":        `{"model":"m","input":[{"role":"user","content":"go"}],"tools":[{"type":"function","name":"look","parameters":{}}]}`,
}

// run records a run that the model leads: the tool gives tool(call).
func (b *bench) run(s *scripted, path string, tool func(n int) string) []*transcript.Exchange {
	b.T.Helper()
	first := b.first(s, path)
	n := 0
	take, err := b.Player().Play(context.Background(), replaytest.Prepare(b.T, b.DB, first), replay.Options{Sources: []replay.Source{toolFunc(func(*replay.Call) *replay.Result {
		n++
		return &replay.Result{Text: tool(n), Source: transcript.FromExec}
	})}})
	if err != nil || take.StopReason != transcript.StopAnswered {
		b.T.Fatalf("record a run: %+v, %v", take, err)
	}
	var list []*transcript.Exchange
	for _, id := range take.Steps {
		list = append(list, b.Exchange(id))
	}
	return list
}

// first records a first request.
func (b *bench) first(s *scripted, path string) *transcript.Exchange {
	b.T.Helper()
	req, err := http.NewRequestWithContext(recorder.WithID(context.Background(), "0190a000-0000-7000-8000-000000000001"), "POST", s.server.URL+path, strings.NewReader(firsts[path]))
	if err != nil {
		b.T.Fatal(err)
	}
	resp, err := b.Transport.RoundTrip(req)
	if err != nil {
		b.T.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return b.Exchange("0190a000-0000-7000-8000-000000000001")
}
