package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/transcript"
)

// What a transaction remembers of exchanges is what the file says of them, and
// what was changed or rolled back is not remembered.
func TestTx_RemembersExchangesAsTheyAreStored(t *testing.T) {
	db := openDB(t)
	for n := 1; n <= 4; n++ {
		e := example(n)
		switch n {
		case 2:
			e.StartedAt, e.EndedAt = time.Now(), time.Time{}
			e.Usage, e.Request.Headers, e.Response.Headers = nil, nil, nil
		case 3:
			e.Outcome, e.Error = transcript.HTTPError, &transcript.Error{Type: "a", Code: "b", Message: "c"}
			e.TransportEnding, e.Warnings = &transcript.Ending{Outcome: transcript.OK}, []string{"one", "two"}
			e.Link.Parent, e.Link.Change.Model = example(1).ID, "m"
		}
		if err := db.Update(t.Context(), func(tx transcript.Tx) error { return putStep(tx, e, [][]byte{{byte(n)}}, nil) }); err != nil {
			t.Fatal(err)
		}
	}
	compare := func(what string) {
		t.Helper()
		err := db.Update(t.Context(), func(tx transcript.Tx) error {
			for n := 1; n <= 4; n++ {
				node := example(n).Link.OutNode
				remembered, err := tx.ByOutNode(node, 1)
				if err != nil {
					return err
				}
				read, err := db.Before(100).ByOutNode(node, 1)
				if err != nil {
					return err
				}
				if diff := cmp.Diff(read, remembered); diff != "" {
					t.Errorf("%s: x%d is remembered otherwise than it is stored:\n%s", what, n, diff)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	compare("as stored")
	change := func(tx transcript.Tx) error {
		e := example(1)
		e.Preview = "another one"
		if err := tx.SetSide(example(3).ID); err != nil {
			return err
		}
		return tx.PutDerived(e, nil, nil)
	}
	if err := db.Update(t.Context(), func(tx transcript.Tx) error { return fmt.Errorf("no: %w", change(tx)) }); err == nil {
		t.Fatal("want it to be rolled back")
	}
	compare("rolled back")
	if err := db.Update(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	compare("changed")
}
