package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// A program built without FTS5 works on the same file, but for the search index: it
// searches by reading, removes exchanges and derives others again.
func TestSearch_ProgramsWithAndWithoutFTS5ShareAFile(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "inspect")
	if out, err := exec.Command("go", "build", "-o", plain, ".").CombinedOutput(); err != nil {
		t.Fatalf("build without tags: %v\n%s", err, out)
	}
	path := filepath.Join(t.TempDir(), "t.db")
	commit := func(from, to int) {
		db, err := store.Open(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var list []*transcript.Capture
		for n := from; n <= to; n++ {
			at := time.Unix(int64(1_700_000_000+n), 0)
			list = append(list, &transcript.Capture{ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", n), StartedAt: at, EndedAt: at,
				Method: "POST", URL: "https://api.example.com/v1/chat/completions", Status: 200, Outcome: transcript.OK,
				Request:  fileBody(fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"needle %d"}]}`, n)),
				Response: fileBody(`{"id":"a","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"thread"},"finish_reason":"stop"}]}`)})
		}
		if _, err := ingest.Commit(t.Context(), db, list); err != nil {
			t.Fatal(err)
		}
	}
	hits := func(program, said string) int {
		t.Helper()
		cmd := exec.Command(program, "search", "--limit", "0", "needle", "--db", path)
		var err strings.Builder
		cmd.Stderr = &err
		out, e := cmd.Output()
		if e != nil || !strings.Contains(err.String(), said) || said == "" && err.Len() > 0 {
			t.Errorf("search: %v; says %q, want %q", e, err.String(), said)
		}
		return strings.Count(string(out), "«needle»")
	}
	commit(1, 9)
	if err := index(path); err != nil {
		t.Fatal(err)
	}
	if n := hits(plain, "built without FTS5"); n != 9 {
		t.Errorf("without FTS5: %d hits, want 9", n)
	}
	for _, args := range [][]string{{"verify"}, {"doctor"}, {"stats", "--storage"}, {"prune", "x2", "x7", "--yes"}, {"reindex"}} {
		if out, err := exec.Command(plain, append(args, "--db", path)...).CombinedOutput(); err != nil {
			t.Errorf("without FTS5: %v: %v\n%s", args, err, out)
		}
	}
	commit(10, 12)
	if n := hits(plain, "built without FTS5"); n != 10 {
		t.Errorf("without FTS5, later: %d hits, want 10", n)
	}
	if found := runOn(t, path, "search", "--limit", "0", "needle"); strings.Count(found, "«needle»") != 10 {
		t.Errorf("not indexed yet: %s", found)
	}
	if err := index(path); err != nil {
		t.Fatal(err)
	}
	db, err := store.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if s, err := db.SearchState(context.Background()); err != nil || s.Lag != 0 {
		t.Errorf("the index lags %d behind (%v)", s.Lag, err)
	}
	if found := runOn(t, path, "search", "--limit", "0", "needle"); strings.Count(found, "«needle»") != 10 {
		t.Errorf("indexed again: %s", found)
	}
	mustRun(t, "afterwards", "0 problems", path, "verify")
}
