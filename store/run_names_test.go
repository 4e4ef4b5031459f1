package store_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// What runs are called is the same wherever it is asked for.
func TestRunNames(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var ids []string
	err = db.Update(t.Context(), func(tx transcript.Tx) error {
		n := 0
		for i, steps := range [][]transcript.Exchange{
			{{Preview: "a title", Link: transcript.Link{Side: true}}, {Preview: "the task"}, {Preview: "more"}},
			{{Preview: "a probe", Link: transcript.Link{Side: true}}},
			{{Method: "POST", URL: "https://api.example.com/v1/things"}},
		} {
			run, err := tx.RunByLabel(fmt.Sprint("command ", i), time.Unix(1_700_000_000, 0))
			if err != nil {
				return err
			}
			ids = append(ids, run.ID)
			for _, e := range steps {
				n++
				e.ID, e.StartedAt, e.Outcome, e.Link.Run = fmt.Sprintf("0190a000-0000-7000-8000-%012d", n), time.Unix(1_700_000_000, 0), transcript.OK, run.ID
				if err := tx.PutExchange(&e); err != nil {
					return err
				}
			}
		}
		return tx.PutMarks(ids[0], &transcript.Marks{Name: "mine"})
	})
	if err != nil {
		t.Fatal(err)
	}
	sums, err := db.Runs(t.Context(), transcript.RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	named, err := db.RunNames(t.Context(), append([]string{"0190a000-0000-7000-8000-ffffffffffff"}, ids...))
	if err != nil || len(named) != len(ids) {
		t.Fatalf("%d of %d runs are named, %v", len(named), len(ids), err)
	}
	for _, sum := range sums {
		for _, one := range named {
			if one.ID == sum.ID && (one.N != sum.N || one.Name != sum.Name || one.Topic != sum.Topic || one.Marks.Name != sum.Marks.Name) {
				t.Errorf("r%d is called %+v, and in the list %+v", sum.N, one, sum)
			}
		}
	}
	for i, want := range []string{"the task", "a probe", "POST /v1/things"} {
		if named[i].Topic != want {
			t.Errorf("run %d is about %q, want %q", i, named[i].Topic, want)
		}
	}
	if list, err := db.RunNames(t.Context(), nil); err != nil || len(list) != 0 {
		t.Errorf("of no run: %v, %v", list, err)
	}
}
