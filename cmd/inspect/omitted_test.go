package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/ingest/decode"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// What was left out when it was recorded is left out of an archive, too, and the
// database that takes it in says so: with the length and the sum of what went over
// the wire.
func TestArchive_CarriesWhatWasLeftOut(t *testing.T) {
	picture := "iVBORw0KGgo" + strings.Repeat("QUJD", 300)
	for name, c := range map[string]struct {
		how   *ingest.Committer
		says  string
		body  string // that is in the request
		again bool   // an archive of what was taken in is the same
	}{
		"images":  {&ingest.Committer{Decoder: decode.Decoder{Omit: decode.OmitImages}}, `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + picture + `"}}]`, "[image omitted", true},
		"secrets": {&ingest.Committer{Decoder: decode.Decoder{Redact: redact.NewScrubber(nil)}}, `"I am ada@example.org"`, "[redacted:email:1]", true},
		"bodies":  {&ingest.Committer{Decoder: decode.Decoder{Omit: decode.OmitBodies}}, `"hi"`, "", false},
	} {
		dir := t.TempDir()
		first, second := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
		caught := newLong(0).step(1)
		caught.URL, caught.Imported = "https://api.example.com/v1/messages", transcript.Exact
		caught.Request = fileBody(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":` + c.says + `}]}`)
		caught.Response = fileBody(`{"type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn"}`)
		want := recordedAs(t, first, c.how, caught)
		inspect := func(args ...string) string {
			var out, said bytes.Buffer
			if code := run(t.Context(), args, console{in: strings.NewReader(""), out: &out, err: &said, getenv: func(string) string { return "" }}); code != exitOK {
				t.Fatalf("%s: inspect %s: %d\n%s", name, args, code, said.String())
			}
			return said.String()
		}
		one, other := filepath.Join(dir, "one.archive"), filepath.Join(dir, "other.archive")
		told := inspect("export", "x1", "--format", "archive", "-o", one, "--db", first)
		inspect("import", one, "--db", second)
		inspect("verify", "--db", second)
		inspect("export", "x1", "--format", "archive", "-o", other, "--db", second)

		got := requestOf(t, second, want.ID)
		if got.message.Omitted != name || got.message.Bytes != want.Request.Bytes || got.message.SHA256 != want.Request.SHA256 {
			t.Errorf("%s: taken in as %+v, recorded as %+v", name, got.message, want.Request)
		}
		if !strings.Contains(got.body, c.body) || (c.body == "") != (got.body == "") {
			t.Errorf("%s: the body is %s", name, got.body)
		}
		if c.again {
			a, errA := os.ReadFile(one)
			b, errB := os.ReadFile(other)
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: the archive of what was taken in is another one (%v, %v)", name, errA, errB)
			}
		} else if !strings.Contains(told, "whose bodies were not stored") {
			t.Errorf("%s: the export does not say what is lost: %s", name, told)
		}
	}
}

func recordedAs(t *testing.T, path string, how *ingest.Committer, c *transcript.Capture) *transcript.Exchange {
	t.Helper()
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	stored, err := how.Commit(t.Context(), db, []*transcript.Capture{c})
	if err != nil || len(stored) != 1 {
		t.Fatalf("%d stored, %v", len(stored), err)
	}
	return stored[0]
}

type storedRequest struct {
	message transcript.Message
	body    string
}

func requestOf(t *testing.T, path, id string) storedRequest {
	t.Helper()
	db, err := store.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	e, err := db.Exchange(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	body, err := db.Body(t.Context(), e.Request.Body)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return storedRequest{e.Request, string(text)}
}
