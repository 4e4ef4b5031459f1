package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/transcript"
)

// What is remembered of calls is what is stored, whatever is done to them.
func TestCalls_RememberedAreThoseStored(t *testing.T) {
	db := openDB(t)
	random := rand.New(rand.NewPCG(3, 3))
	stored, withCalls := 0, 0
	call := func(n, i int) transcript.CallRow {
		return transcript.CallRow{Exchange: example(n).ID, Key: transcript.Key{byte(n), byte(n >> 8), byte(i)}, At: fmt.Sprint("/", i), CallID: fmt.Sprint("c", i), Name: "f"}
	}
	result := func(n int) transcript.ResultRow {
		return transcript.ResultRow{Exchange: example(n).ID, At: "/r", By: "id"}
	}
	undo := errors.New("undo")
	for range 300 {
		before := stored
		err := db.Update(t.Context(), func(tx transcript.Tx) error {
			for range 1 + random.IntN(4) {
				switch n := 1 + random.IntN(stored+1); random.IntN(6) {
				case 0, 1, 2:
					stored++
					if err := tx.PutExchange(example(stored)); err != nil {
						return err
					}
					for i := range random.IntN(4) {
						c := call(stored, i)
						if random.IntN(8) == 0 {
							c.Results = []transcript.ResultRow{result(stored)}
						}
						if err := tx.PutCall(c); err != nil {
							return err
						}
					}
				case 3, 4:
					if err := tx.PutResult(example(n).ID, fmt.Sprint("/", random.IntN(3)), result(max(stored, 1))); err != nil && !errors.Is(err, transcript.ErrNotFound) {
						return err
					}
				case 5:
					if n > stored {
						continue
					}
					var calls []transcript.CallRow
					for i := range random.IntN(4) {
						calls = append(calls, call(n, i+random.IntN(2)*4))
					}
					if err := tx.PutDerived(example(n), calls, nil); err != nil {
						return err
					}
				}
			}
			for n := max(1, stored-12); n <= stored; n++ {
				got, err := tx.Calls(t.Context(), []string{example(n).ID})
				if err != nil {
					return err
				}
				want, err := tx.Before(1<<60).Calls(t.Context(), []string{example(n).ID})
				if err != nil {
					return err
				}
				if len(want) > 0 {
					withCalls++
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("calls of %d (-stored +remembered):\n%s", n, diff)
				}
			}
			if random.IntN(5) == 0 {
				return undo
			}
			return nil
		})
		if errors.Is(err, undo) {
			stored = before
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if withCalls == 0 {
		t.Error("no calls")
	}
}
