package store_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// Whether the exchanges that fulfil a condition are few, so that their runs are
// listed, or many, so that the newest runs are looked through, the same runs are
// found.
func TestRuns_EitherWayOfFilteringFindsTheSame(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := rand.New(rand.NewPCG(31, 32))
	begin := time.Unix(1_700_000_000, 0)
	err = db.Update(t.Context(), func(tx transcript.Tx) error {
		n := 0
		for range 60 {
			run, err := tx.NewRun(begin)
			if err != nil {
				return err
			}
			for range 1 + r.IntN(4) {
				n++
				e := &transcript.Exchange{ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", n), StartedAt: begin.Add(time.Duration(n-r.IntN(30)) * time.Minute), Status: 200,
					Outcome: []transcript.Outcome{transcript.OK, transcript.OK, transcript.HTTPError, transcript.StreamError}[r.IntN(4)],
					Dialect: []transcript.Dialect{transcript.Chat, transcript.Messages}[r.IntN(2)], Model: []string{"big", "big-mini", "other"}[r.IntN(3)]}
				e.Link.Run = run.ID
				if err := tx.PutExchange(e); err != nil {
					return err
				}
				if r.IntN(5) == 0 {
					take := transcript.Take{ID: fmt.Sprintf("0190b000-0000-7000-8000-%012d", n), Origin: e.ID, Steps: []transcript.TakeStep{{Exchange: e.ID, Step: 1, Attempt: 1}}}
					if err := tx.PutTake(&take); err != nil {
						return err
					}
				}
				if r.IntN(3) > 0 {
					continue
				}
				call := transcript.CallRow{Exchange: e.ID, At: "/0", CallID: "c", Name: []string{"bash", "read_file"}[r.IntN(2)]}
				if err := tx.PutCall(call); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for range 200 {
		f := transcript.RunFilter{Limit: 1 + r.IntN(30)}
		if r.IntN(3) == 0 {
			f.Model = []string{"big", "MINI", "none"}[r.IntN(3)]
		}
		if r.IntN(3) == 0 {
			f.Dialect = []transcript.Dialect{transcript.Chat, transcript.Responses}[r.IntN(2)]
		}
		if r.IntN(3) == 0 {
			f.Outcome = []transcript.Outcome{transcript.OK, transcript.HTTPError, transcript.UpstreamReset}[r.IntN(3)]
		}
		if r.IntN(3) == 0 {
			f.Since = begin.Add(time.Duration(r.IntN(150)) * time.Minute)
		}
		if r.IntN(3) == 0 {
			f.Tool = []string{"bash", "FILE", "none"}[r.IntN(3)]
		}
		var want []int64
		for way, few := range []int{1000, 0, 40} {
			db.SetFewOfRuns(few)
			list, err := db.Runs(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for _, run := range list {
				got = append(got, run.N)
			}
			if way == 0 {
				want, found = got, found+len(got)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("%+v, up to %d exchanges listed (-want +got):\n%s", f, few, diff)
			}
		}
	}
	if found < 500 {
		t.Errorf("only %d runs were found", found)
	}
}
