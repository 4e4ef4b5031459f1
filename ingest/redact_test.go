package ingest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/ingest/decode"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// aKey has the form of a vendor's key and opens nothing.
const aKey = "sk-proj-Zx81QwErTy0UiOpAsDfGhJkLzXcVbNm1234567890AbCdEfGh"

func bodyOf(t *testing.T, db *store.DB, id transcript.BodyID) []byte {
	t.Helper()
	r, err := db.Body(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A run whose tool returned a key: the second request resends it, the third too.
func redactedRun() []*transcript.Capture {
	result := `{"role":"tool","tool_call_id":"call_1","content":"OPENAI_API_KEY=` + aKey + `"}`
	call := `{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\":\".env\"}"}}]}`
	said := `{"role":"assistant","content":"The key is ` + aKey + `."}`
	body := func(message, finish string) string {
		return `{"id":"chatcmpl-1","object":"chat.completion","model":"m","choices":[{"index":0,"message":` + message + `,"finish_reason":"` + finish + `"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`
	}
	ask := `{"model":"m","messages":[{"role":"user","content":"Which key is in .env?"}`
	return []*transcript.Capture{
		capture(1, "/v1/chat/completions", ask+`]}`, body(call, "tool_calls")),
		capture(2, "/v1/chat/completions", ask+`,`+call+`,`+result+`]}`, body(said, "stop")),
		capture(3, "/v1/chat/completions", ask+`,`+call+`,`+result+`,`+said+`,{"role":"user","content":"Thanks"}]}`, body(`{"role":"assistant","content":"Welcome."}`, "stop")),
	}
}

func TestCommitter_StoresNoSecret(t *testing.T) {
	plain := mustOpen(t)
	want := commit(t, plain, redactedRun()...)
	path := t.TempDir() + "/redacted.db"
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := &ingest.Committer{Decoder: decode.Decoder{Redact: redact.NewScrubber(nil)}}
	stored, err := c.Commit(t.Context(), db, redactedRun())
	if err != nil || len(stored) != 3 {
		t.Fatalf("%d stored, %v", len(stored), err)
	}
	for i, e := range stored {
		w := want[i]
		if e.Request.SHA256 != w.Request.SHA256 || e.Request.Bytes != w.Request.Bytes || e.Response.SHA256 != w.Response.SHA256 {
			t.Errorf("x%d: length or hash is not that of the wire", e.N)
		}
		if e.Link.Parent != w.Link.Parent || e.Link.By != w.Link.By || e.Calls != w.Calls || e.Results != w.Results {
			t.Errorf("x%d is linked %+v, unredacted %+v", e.N, e.Link, w.Link)
		}
	}
	marks := []string{stored[0].Request.Omitted, stored[0].Response.Omitted, stored[1].Request.Omitted, stored[1].Response.Omitted, stored[2].Request.Omitted, stored[2].Response.Omitted}
	if got := strings.Join(marks, ","); got != ",,secrets,secrets,secrets," {
		t.Errorf("marked %q", got)
	}
	body := bodyOf(t, db, stored[2].Request.Body)
	if !json.Valid(body) || strings.Count(string(body), "[redacted:openai:1]") != 2 {
		t.Errorf("stored %s", body)
	}
	verified(t, db)
	if did := reindexAll(t, db); did.Changed != 0 || did.Unreadable != 0 {
		t.Errorf("derived again: %+v", did)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil || bytes.Contains(file, []byte(aKey[:20])) {
		t.Errorf("the file holds the key (%v)", err)
	}
}

func TestCommitter_RedactsWhatIsCompressed(t *testing.T) {
	packed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		return b.String()
	}
	answer := `{"id":"chatcmpl-1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"It is ` + aKey + `"},"finish_reason":"stop"}]}`
	for name, c := range map[string]struct {
		body, omitted, encoding string
	}{
		"a secret":    {packed(answer), "secrets", ""},
		"no secret":   {packed(strings.ReplaceAll(answer, aKey, "not here")), "", "gzip"},
		"cut short":   {packed(answer)[:60], "bodies", "gzip"},
		"not gzip":    {answer, "bodies", "gzip"},
		"nothing yet": {"", "", "gzip"},
	} {
		caught := capture(1, "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, c.body)
		caught.ResponseHeader = map[string][]string{"Content-Type": {"application/json"}, "content-encoding": {"gzip"}}
		db := mustOpen(t)
		stored, err := (&ingest.Committer{Decoder: decode.Decoder{Redact: redact.NewScrubber(nil)}}).Commit(t.Context(), db, []*transcript.Capture{caught})
		if err != nil {
			t.Fatal(name, err)
		}
		m := &stored[0].Response
		if m.Omitted != c.omitted || m.ContentEncoding != c.encoding || m.Bytes != int64(len(c.body)) || len(m.Headers["content-encoding"]) != len(c.encoding)/4 {
			t.Errorf("%s: %+v", name, m)
		}
		if c.omitted == "bodies" && (m.Body != 0 || m.DecodeError == "") {
			t.Errorf("%s: a body that cannot be looked at is stored: %+v", name, m)
		}
		if strings.Contains(stored[0].Preview, aKey) || strings.Contains(string(bodyOf(t, db, m.Body)), aKey) {
			t.Errorf("%s: the key is stored", name)
		}
		if len(caught.ResponseHeader) != 2 {
			t.Errorf("%s: what was caught was changed", name)
		}
		verified(t, db)
		if did := reindexAll(t, db); did.Changed != 0 {
			t.Errorf("%s: derived again: %+v", name, did)
		}
	}
}

// A key that comes in pieces of a stream is found; the arrival of what comes behind
// it moves with it.
func TestCommitter_RedactsAStreamAndKeepsItsTimes(t *testing.T) {
	event := func(text string) string {
		b, _ := json.Marshal(text)
		return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":` + string(b) + `},"finish_reason":null}]}` + "\n\n"
	}
	events := []string{event("It is "), event(aKey[:21]), event(aKey[21:40]), event(aKey[40:] + " there."), event(" Bye."), "data: [DONE]\n\n"}
	caught := capture(1, "/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`, strings.Join(events, ""))
	caught.Chunks = nil
	at := 0
	for i, e := range events {
		caught.Chunks = append(caught.Chunks, transcript.Chunk{Offset: int64(at), At: time.Duration(i) * time.Millisecond})
		at += len(e)
	}
	db := mustOpen(t)
	stored, err := (&ingest.Committer{Decoder: decode.Decoder{Redact: redact.NewScrubber(nil)}}).Commit(context.Background(), db, []*transcript.Capture{caught})
	if err != nil {
		t.Fatal(err)
	}
	e := stored[0]
	body := string(bodyOf(t, db, e.Response.Body))
	if e.Response.Omitted != "secrets" || !strings.Contains(body, "[redacted:openai:1]") || strings.Contains(body, aKey[21:40]) {
		t.Fatalf("%+v\n%s", e.Response, body)
	}
	last := e.Response.Chunks[len(events)-2]
	if !strings.HasPrefix(body[last.Offset:], events[4]) || last.At != caught.Chunks[4].At {
		t.Errorf("the piece behind the key came at %+v: %q", last, body[last.Offset:])
	}
}
