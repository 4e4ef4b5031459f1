package retake_test

import (
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

// record sends the exchanges of a weather question through a transport of db.
func record(t *testing.T, db *retake.DB, secret string) {
	t.Helper()
	model := newModel()
	t.Cleanup(model.Close)
	client := &http.Client{Transport: db.Transport(nil)}
	for _, body := range []string{question, withResult} {
		if err := ask(client, model.URL, strings.Replace(body, "Oslo?", "Oslo? "+secret, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func openDB(t *testing.T, path string, o retake.Options) *retake.DB {
	t.Helper()
	db, err := retake.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// A reader sees what another process has recorded, without a spool of its own.
func TestOpenReader_ReadsWhileOthersRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	if _, err := retake.OpenReader(path, retake.Options{}); err == nil {
		t.Error("a database that is not there opens")
	}
	db := openDB(t, path, retake.Options{})
	record(t, db, "")
	r, err := retake.OpenReader(path, retake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	runs, err := r.Runs(t.Context(), "model:gpt-5")
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	x, err := r.Exchange(t.Context(), "r1.2")
	if err != nil || x.Text != "Yes, take an umbrella." || len(x.Pairs) != 1 || x.Pairs[0].State != transcript.Paired {
		t.Errorf("%+v, %v", x, err)
	}
	if _, err := r.Run(t.Context(), "r2"); !errors.Is(err, transcript.ErrNotFound) {
		t.Errorf("a run that is not there: %v", err)
	}
	if _, err := r.Runs(t.Context(), "nonsense:1"); err == nil {
		t.Error("a filter that is none is taken")
	}
}

// Two processes that record into one database store what they record in it.
func TestOpen_TwiceRecordsIntoOneDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	one, two := openDB(t, path, retake.Options{}), openDB(t, path, retake.Options{})
	record(t, one, "one")
	record(t, two, "two")
	runs, err := one.Runs(t.Context(), "")
	if err != nil || len(runs) != 2 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

func TestOptions_LabelAndRedact(t *testing.T) {
	const secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
	db := openDB(t, filepath.Join(t.TempDir(), "t.db"), retake.Options{Label: "nightly", Redact: redact.NewScrubber(nil)})
	record(t, db, secret)
	run, err := db.Run(t.Context(), "last")
	if err != nil || run.Name != "nightly" {
		t.Fatalf("%+v, %v", run, err)
	}
	x, err := db.Exchange(t.Context(), "r1.1")
	if err != nil {
		t.Fatal(err)
	}
	if said := x.Input[0].Text; strings.Contains(said, secret) || !strings.Contains(said, "[redacted:") {
		t.Errorf("stored %q", said)
	}
}
