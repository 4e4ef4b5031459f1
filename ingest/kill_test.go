package ingest_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest/reindex"
	"github.com/retake-debugger/retake/store"
)

// reindexEnv makes the test binary reindex the database that it names.
const reindexEnv = "RETAKE_INGEST_TEST_REINDEX"

func TestMain(m *testing.M) {
	if path := os.Getenv(reindexEnv); path != "" {
		if err := reindexFile(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// reindexFile says how far it is after each group.
func reindexFile(path string) error {
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	did, err := reindex.Run(context.Background(), db, "test", func(done, _ int64) { fmt.Println("at", done) })
	if err != nil {
		return err
	}
	fmt.Println("from", did.From)
	return db.Close()
}

// Killed at any point a reindex leaves a whole database, and the next one goes
// on until all is derived.
func TestReindex_SurvivesKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 300 {
		commit(t, db, capture(n+1, "/v1/chat/completions", fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"Task %d"}]}`, n), chatAnswer))
	}
	want := everything(t, db)
	spoil(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	resumed := false
	for round, finished := 1, false; !finished; round++ {
		if round > 30 {
			t.Fatal("it gets nowhere")
		}
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), reindexEnv+"="+path)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, groups := bufio.NewScanner(out), 0
		for lines.Scan() {
			var word string
			var n int64
			fmt.Sscan(lines.Text(), &word, &n)
			if resumed = resumed || word == "from" && n > 0; word == "at" {
				groups++
			}
			if groups == 1+round%2 {
				time.AfterFunc(time.Duration(round)*time.Millisecond, func() { _ = cmd.Process.Kill() })
			}
		}
		finished = cmd.Wait() == nil
		db, err := store.Open(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if problems, err := db.Verify(t.Context(), nil); err != nil || len(problems) > 0 {
			t.Fatalf("verify: %v, %v", problems, err)
		}
		if n := len(everything(t, db).Exchanges); n != 300 {
			t.Fatalf("%d exchanges", n)
		}
		if finished {
			same(t, everything(t, db), want)
			verified(t, db)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !resumed {
		t.Error("it was never broken off")
	}
}
