package view

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

type bodyOf []byte

func (b bodyOf) Size() int64                  { return int64(len(b)) }
func (b bodyOf) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }

type sent struct{ url, request, response string }

func stored(t *testing.T, all []sent) *store.DB {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c := new(ingest.Committer)
	for i, s := range all {
		at := time.Unix(int64(i), 0)
		_, err := c.Commit(context.Background(), db, []*transcript.Capture{{
			ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", i+1), StartedAt: at, EndedAt: at.Add(time.Second), Method: "POST", URL: s.url,
			Status: 200, Outcome: transcript.OK, Request: bodyOf(s.request), Response: bodyOf(s.response),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return db
}
