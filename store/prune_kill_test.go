package store_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// pruneAll removes all but the newest exchanges, and says when it begins.
func pruneAll(path string) error {
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	plan, err := db.Plan(background, store.Selection{Before: example(pruneKeeps).StartedAt})
	if err != nil {
		return err
	}
	_, err = db.Prune(background, plan, func(p store.PruneProgress) { fmt.Println(p.Step, p.Done) })
	if err != nil {
		return err
	}
	return db.Close()
}

const (
	pruneKeeps    = 541 // the first exchange that pruneAll keeps
	mostKillTries = 30
)

// indexEach puts a text of its own for each of so many exchanges into the index, a
// segment for each, so that a prune has many to merge; long ones for the last.
func indexEach(t *testing.T, db *store.DB, count int) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 5))
	for n := range int64(count) {
		err := db.Update(t.Context(), func(tx transcript.Tx) error {
			text := fmt.Sprintf("text of x%d.", n+1)
			words := 60
			if n > int64(count)-60 {
				words = 1200
			}
			for range words {
				text += fmt.Sprintf(" %x", r.Uint64())
			}
			_, err := tx.PutTexts(transcript.SearchTexts{Exchanges: []transcript.Unindexed{{N: n + 1}}, Last: true,
				Texts: []transcript.SearchText{{Items: []transcript.SearchItem{{Exchange: n + 1, Body: "request", At: "/0", Text: text}}}}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Killed at any point a prune leaves a whole database with all that is kept,
// and another one finishes it.
func TestPrune_SurvivesKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conversations(t, db, 1, 6, 100, 5000)
	indexEach(t, db, 600)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"exchanges", "search", "history", "packs", "space"} {
		for _, times := range []int{1, 2} {
			file := filepath.Join(t.TempDir(), "retake.db")
			killed := 0
			for try := 0; killed == 0 && (try == 0 || times == 1 && try < mostKillTries); try++ { // it may be faster than the kill
				if err := os.WriteFile(file, whole, 0o600); err != nil {
					t.Fatal(err)
				}
				for !killedPrune(t, file, step, times, killed < 2) { // twice, then it is left in peace
					killed++
					kept(t, file, step, false)
				}
			}
			if killed == 0 && times == 1 {
				t.Errorf("never killed at %s", step)
			}
			kept(t, file, step, true)
		}
	}
}

// kept fails unless all that is to be kept is there, and, when it is finished,
// nothing else.
func kept(t *testing.T, path, step string, finished bool) {
	t.Helper()
	db, err := store.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if problems, err := db.Verify(t.Context(), nil); err != nil || len(problems) > 0 {
		t.Fatalf("killed at %s: %v, %v", step, problems, err)
	}
	if n := number(t, db, "SELECT count(*) FROM exchange WHERE n >= ?", pruneKeeps); n != 600-pruneKeeps+1 {
		t.Fatalf("killed at %s: %d exchanges are kept", step, n)
	}
	for n := pruneKeeps; n <= 600; n += 7 {
		found := 0
		for _, err := range db.Search(t.Context(), transcript.SearchQuery{Text: fmt.Sprintf("text of x%d.", n)}) {
			if err != nil {
				t.Fatalf("killed at %s: %v", step, err)
			}
			found++
		}
		if found != 1 {
			t.Fatalf("killed at %s: x%d is found %d times", step, n, found)
		}
	}
	if !finished {
		return
	}
	if n := number(t, db, "SELECT count(*) FROM search_gone"); n > 0 {
		t.Errorf("killed at %s: the terms of %d texts are not removed", step, n)
	}
	if n := number(t, db, "SELECT count(*) FROM exchange"); n != 600-pruneKeeps+1 {
		t.Errorf("killed at %s: %d exchanges are left", step, n)
	}
	tidy(t, db)
}

// killedPrune runs pruneAll and, if it is to be killed, does so shortly after it
// has said a step so many times. It says whether pruneAll came to its end.
func killedPrune(t *testing.T, path, step string, times int, kill bool) (finished bool) {
	t.Helper()
	cmd := job(t, "prune", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), step) {
			times--
		}
		if kill && times == 0 {
			time.AfterFunc(time.Duration(rand.IntN(4000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		}
	}
	return cmd.Wait() == nil
}
