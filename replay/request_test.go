package replay_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/replaytest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

type body = replaytest.Body

// request has odd white space, an escaped slash and numbers that floats would
// change: none of it may move.
const request = `{ "model":"m", "max_tokens":1e3, "n":9007199254740993,"messages":[{"role":"user","content":"a\/b"},
 {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"EqQB\/=="},{"type":"tool_use","id":"toolu_1","name":"f","input":{"n":1.10}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"old"}]}]}`

func record(t *testing.T, c *transcript.Capture) (*store.DB, *transcript.Exchange) {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c.ID, c.StartedAt, c.EndedAt = "0190a000-0000-7000-8000-000000000001", time.Unix(1, 0), time.Unix(2, 0)
	c.Method, c.Status, c.Outcome = "POST", 200, transcript.OK
	if c.URL == "" {
		c.URL = "https://api.anthropic.com/v1/messages"
	}
	c.Response = body(`{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn"}`)
	stored, err := ingest.Commit(context.Background(), db, []*transcript.Capture{c})
	if err != nil {
		t.Fatal(err)
	}
	return db, stored[0]
}

func TestPrepare_WithoutEditsGivesTheRecordedBytes(t *testing.T) {
	db, e := record(t, &transcript.Capture{Request: body(request)})
	r, err := replay.NewRequest(context.Background(), db, e, nil)
	if err != nil || string(r.Body) != request {
		t.Errorf("body = %q (%v), want the recorded one", r.Body, err)
	}
}

func TestPrepare_AnEditChangesThatValueOnly(t *testing.T) {
	db, e := record(t, &transcript.Capture{Request: body(request)})
	r, err := replay.NewRequest(context.Background(), db, e, []transcript.Edit{{CallID: "toolu_1", Text: "new \"é\"\n"}})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(request, `"old"`, `"new \"é\"\n"`, 1)
	if string(r.Body) != want {
		t.Errorf("body =\n%s\nwant\n%s", r.Body, want)
	}
}

func TestPrepare_RefusesAnEditOfNothing(t *testing.T) {
	db, e := record(t, &transcript.Capture{Request: body(request)})
	if _, err := replay.NewRequest(context.Background(), db, e, []transcript.Edit{{CallID: "toolu_9"}}); !errors.Is(err, replay.ErrNoResult) {
		t.Errorf("error = %v, want ErrNoResult", err)
	}
}

func TestPrepare_RefusesALossyRequest(t *testing.T) {
	db, e := record(t, &transcript.Capture{Request: body(request), Lossy: true})
	if _, err := replay.NewRequest(context.Background(), db, e, nil); !errors.Is(err, replay.ErrLossy) {
		t.Errorf("error = %v, want ErrLossy", err)
	}
}

func TestPrepare_RefusesARequestThatBreaksOff(t *testing.T) {
	db, e := record(t, &transcript.Capture{Request: body(request[:len(request)-9])})
	if _, err := replay.NewRequest(context.Background(), db, e, nil); !errors.Is(err, replay.ErrCut) {
		t.Errorf("error = %v, want ErrCut", err)
	}
	db, e = record(t, &transcript.Capture{Request: body(request), RequestHeader: http.Header{"Content-Length": {"9999"}}})
	if _, err := replay.NewRequest(context.Background(), db, e, nil); !errors.Is(err, replay.ErrCut) {
		t.Errorf("error = %v, want ErrCut", err)
	}
}

func TestRequest_KeyGoesToItsOwnHostOnly(t *testing.T) {
	tests := []struct {
		url, variable string
		exposed       bool
	}{
		{"https://api.openai.com/v1/x", "OPENAI_API_KEY", false},
		{"https://x.openai.azure.com/v1/x", "AZURE_OPENAI_API_KEY", false},
		{"http://127.0.0.1:8000/v1/x", "ANTHROPIC_API_KEY", false},
		{"http://api.openai.com/v1/x", "OPENAI_API_KEY", true},
		{"http://evil.example/v1/x", "", true},
		{"https://api.openai.com.evil.example/v1/x", "", false},
		{"https://127.0.0.1.evil.example/v1/x", "", false},
	}
	for _, tt := range tests {
		r := &replay.Request{URL: tt.url, Origin: &transcript.Exchange{Dialect: transcript.Messages}}
		if got := r.KeyVariable(); got != tt.variable || r.Exposed() != tt.exposed {
			t.Errorf("%s: %q exposed %v, want %q %v", tt.url, got, r.Exposed(), tt.variable, tt.exposed)
		}
	}
}

func TestRequest_FindsItsKeyInAnEnvironment(t *testing.T) {
	env := func(name string) string { return map[string]string{"OPENAI_API_KEY": "a", "MINE": "b"}[name] }
	tests := []struct {
		url, variable, name, key string
		err                      error
	}{
		{"https://api.openai.com/v1/x", "", "OPENAI_API_KEY", "a", nil},
		{"https://api.openai.com/v1/x", "MINE", "MINE", "b", nil},
		{"http://api.openai.com/v1/x", "", "", "", replay.ErrNoVariable},
		{"http://api.openai.com/v1/x", "MINE", "MINE", "b", nil},
		{"https://evil.example/v1/x", "", "", "", replay.ErrNoVariable},
		{"https://api.mistral.ai/v1/x", "", "MISTRAL_API_KEY", "", replay.ErrNoKey},
	}
	for _, tt := range tests {
		db, e := record(t, &transcript.Capture{Request: body(request), RequestHeader: http.Header{"Authorization": {"Bearer [redacted] fp:1"}}, URL: tt.url})
		r, err := replay.NewRequest(context.Background(), db, e, nil)
		if err != nil {
			t.Fatal(err)
		}
		name, key, err := r.Key(env, tt.variable)
		if name != tt.name || key != tt.key || !errors.Is(err, tt.err) {
			t.Errorf("%s with %q: %q %q %v", tt.url, tt.variable, name, key, err)
		}
	}
	if name, key, err := (&replay.Request{URL: "https://evil.example/"}).Key(env, ""); name != "" || key != "" || err != nil {
		t.Errorf("a request without a credential got %q %q %v", name, key, err)
	}
}

func TestPrepare_EditsACompressedRequestAndSendsItPlain(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, request)
	z.Close()
	db, e := record(t, &transcript.Capture{Request: body(zipped.String()), RequestHeader: http.Header{"Content-Encoding": {"gzip"}}})
	same, err := replay.NewRequest(context.Background(), db, e, nil)
	if err != nil || same.Header.Get("Content-Encoding") != "gzip" || string(same.Body) != zipped.String() {
		t.Errorf("without edits: %v, encoding %q, %d bytes; want the wire bytes", err, same.Header.Get("Content-Encoding"), len(same.Body))
	}
	r, err := replay.NewRequest(context.Background(), db, e, []transcript.Edit{{CallID: "toolu_1", Text: "new"}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Header.Get("Content-Encoding") != "" || string(r.Body) != strings.Replace(request, `"old"`, `"new"`, 1) {
		t.Errorf("encoding %q, body %q; want the plain edited body", r.Header.Get("Content-Encoding"), r.Body)
	}
}

func TestRequest_SendsWhatWasRecordedWithTheKeyGivenAnew(t *testing.T) {
	tests := []struct {
		name, url string
		recorded  http.Header
		want      http.Header
		query     string
		dropped   []string
	}{
		{name: "bearer", recorded: http.Header{"Authorization": {"Bearer [redacted] fp:1"}, "Anthropic-Beta": {"a", "b"}, "Connection": {"close"}, "Trailer:X-Sum": {"1"}, "Host": {"x"}},
			want: http.Header{"Authorization": {"Bearer k"}, "Anthropic-Beta": {"a", "b"}}},
		{name: "key header and cookie", recorded: http.Header{"X-Api-Key": {"[redacted] fp:1"}, "Cookie": {"[redacted] fp:2"}},
			want: http.Header{"X-Api-Key": {"k"}}, dropped: []string{"Cookie"}},
		{name: "two credentials", recorded: http.Header{"X-Api-Key": {"[redacted] fp:1"}, "Authorization": {"Bearer [redacted] fp:2"}},
			want: http.Header{"X-Api-Key": {"k"}}, dropped: []string{"Authorization"}},
		{name: "query", url: "/v1/messages?alt=sse&key=[redacted]%20fp:1&x=a;b", recorded: http.Header{}, want: http.Header{}, query: "alt=sse&key=k&x=a;b"},
		{name: "none", recorded: http.Header{"Accept": {"*/*"}}, want: http.Header{"Accept": {"*/*"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got *http.Request
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r }))
			defer up.Close()
			db, e := record(t, &transcript.Capture{Request: body(request), RequestHeader: tt.recorded, URL: "https://api.anthropic.com" + tt.url})
			r, err := replay.NewRequest(context.Background(), db, e, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.NeedsKey() != (tt.name != "none") || r.KeyVariable() != "ANTHROPIC_API_KEY" {
				t.Errorf("needs key %v from %s", r.NeedsKey(), r.KeyVariable())
			}
			if err := errors.Join(r.SetKey("k"), r.SendTo(up.URL)); err != nil {
				t.Fatal(err)
			}
			base := &http.Transport{DisableCompression: true}
			if _, err := r.Send(context.Background(), base); err != nil {
				t.Fatal(err)
			}
			got.Header.Del("Content-Length")
			if diff := cmp.Diff(tt.want, got.Header); diff != "" || got.URL.RawQuery != tt.query {
				t.Errorf("query %q, headers differ (-want +got):\n%s", got.URL.RawQuery, diff)
			}
			if diff := cmp.Diff(tt.dropped, r.Dropped); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSameAnswer(t *testing.T) {
	turn := func(items ...transcript.Item) *transcript.Turn { return &transcript.Turn{Output: items} }
	text := func(s string) transcript.Item {
		return transcript.Item{Kind: transcript.MessageItem, Role: "assistant", Text: s}
	}
	call := func(id, args string) transcript.Item {
		return transcript.Item{Kind: transcript.ToolCall, CallID: id, Name: "f", ArgumentsRaw: args}
	}
	think := transcript.Item{Kind: transcript.Reasoning, Text: "hm"}
	tests := []struct {
		name string
		a, b *transcript.Turn
		want bool
	}{
		{"ids, spacing and reasoning do not count", turn(think, call("a", `{"x":1}`)), turn(call("b", `{ "x": 1 }`)), true},
		{"arguments count", turn(call("a", `{"x":1}`)), turn(call("a", `{"x":2}`)), false},
		{"texts count", turn(text("a")), turn(text("b")), false},
		{"a call more counts", turn(text("a")), turn(text("a"), call("a", "{}")), false},
	}
	for _, tt := range tests {
		if got := replay.SameAnswer(tt.a, tt.b); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
