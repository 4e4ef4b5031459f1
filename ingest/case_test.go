package ingest_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// The cases are failures that users of such tools have reported, each with an
// input and the right result.

// pictureTurns makes the requests of a conversation that sends a picture and
// its whole history again at each turn.
func pictureTurns(t *testing.T, turns int) []*transcript.Capture {
	t.Helper()
	image, err := os.ReadFile("testdata/cases/D-STO-02/image.b64")
	if err != nil || len(image) < 60<<10 {
		t.Fatalf("%d bytes of picture: %v", len(image), err)
	}
	history := `{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + string(image) + `"}}]}`
	var all []*transcript.Capture
	for i := range turns {
		answer := fmt.Sprintf(`{"id":"c%d","model":"test-gpt","choices":[{"index":0,"message":{"role":"assistant","content":"turn %d"},"finish_reason":"stop"}]}`, i, i)
		all = append(all, capture(i+1, "/v1/chat/completions", `{"model":"test-gpt","messages":[`+history+`]}`, answer))
		history += fmt.Sprintf(`,{"role":"assistant","content":"turn %d"},{"role":"user","content":"more %d"}`, i, i)
	}
	return all
}

func TestCase_ResentPicturesAreStoredOnce(t *testing.T) { // D-STO-02
	var expect struct {
		Turns int
		Raw   int64 `json:"raw_sum_bytes_approx"`
		Most  int64 `json:"db_growth_max_bytes"`
	}
	raw, err := os.ReadFile("testdata/cases/D-STO-02/expect.json")
	if err == nil {
		err = json.Unmarshal(raw, &expect)
	}
	if err != nil || expect.Turns == 0 {
		t.Fatalf("expect %+v: %v", expect, err)
	}
	path := filepath.Join(t.TempDir(), "t.db")
	empty := closedSize(t, path, nil)
	captures := pictureTurns(t, expect.Turns)
	sums, sent := map[string]string{}, int64(0)
	for _, c := range captures {
		r, err := c.Request.Open()
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		n, _ := io.Copy(h, r)
		sums[c.ID], sent = hex.EncodeToString(h.Sum(nil)), sent+n
	}
	if sent < expect.Raw {
		t.Fatalf("%d bytes sent, want %d", sent, expect.Raw)
	}
	grown := closedSize(t, path, func(db *store.DB) {
		for _, c := range captures {
			commit(t, db, c)
		}
		_, _ = ingest.Index(context.Background(), db) // a build without FTS5 keeps none
	}) - empty
	if grown > expect.Most {
		t.Errorf("the database grew by %d bytes for %d, want at most %d", grown, sent, expect.Most)
	}
	t.Logf("%d bytes sent, the database grew by %d", sent, grown)
	db, err := store.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for id, want := range sums {
		e, err := db.Exchange(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		body, err := db.Body(t.Context(), e.Request.Body)
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		if _, err := io.Copy(h, body); err != nil || hex.EncodeToString(h.Sum(nil)) != want || e.Request.SHA256 != want {
			t.Errorf("x%d came back changed (%v)", e.N, err)
		}
		body.Close()
	}
	verified(t, db)
	text, err := captures[0].Request.Open()
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := io.ReadAll(text)
	middle := string(whole[30_000:30_012])
	for it, err := range db.Search(t.Context(), transcript.SearchQuery{Text: middle}) {
		if err == nil {
			t.Errorf("the index holds base64: %q in x%d %s", middle, it.Exchange, it.At)
		}
	}
}

// What is left out by choice still has its hash and length.
func TestCase_OmittedPicturesKeepHashAndLength(t *testing.T) { // D-STO-02
	captures := pictureTurns(t, 3)
	db, plain := mustOpen(t), mustOpen(t)
	c := &ingest.Committer{Omit: ingest.OmitImages}
	stored, err := c.Commit(t.Context(), db, captures)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range commit(t, plain, captures...) {
		if got := stored[i].Request; got.Omitted != ingest.OmitImages || got.SHA256 != want.Request.SHA256 || got.Bytes != want.Request.Bytes {
			t.Errorf("x%d: %+v", i+1, got)
		}
	}
	verified(t, db)
}

// closedSize gives the size of a file after something was done to it.
func closedSize(t *testing.T, path string, do func(*store.DB)) int64 {
	t.Helper()
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if do != nil {
		do(db)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
