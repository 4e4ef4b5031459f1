package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// Whatever bit of a pack is wrong, a body comes back as it was or not at all, though
// most of its pack need not be read for it.
func TestBody_OfAPackWithAWrongBit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := rand.New(rand.NewPCG(5, 6))
	var want [][]byte
	var ids []transcript.BodyID
	for n := range 80 {
		body := fmt.Appendf(nil, "body %d ", n)
		for range 2000 {
			body = append(body, "abcdefgh"[r.IntN(8)])
		}
		err := db.Update(t.Context(), func(tx transcript.Tx) error {
			id, err := tx.PutBody(func(yield func([]byte, error) bool) { yield(body, nil) })
			want, ids = append(want, body), append(ids, id)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	length, err := db.Number(t.Context(), "SELECT length(data) FROM whole_pack ORDER BY first LIMIT 1")
	if err != nil || length < 1000 {
		t.Fatal(length, err)
	}
	noticed := 0
	for at := int64(1); at <= length; at += length / 50 {
		change := fmt.Sprintf("UPDATE whole_pack SET data = CAST(substr(data, 1, %d) || x'55' || substr(data, %d) AS BLOB) WHERE first = (SELECT min(first) FROM whole_pack)", at-1, at+1)
		damaged := filepath.Join(t.TempDir(), "damaged.db")
		if err := db.Exec("VACUUM INTO '" + damaged + "'"); err != nil {
			t.Fatal(err)
		}
		other, err := store.Open(damaged, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Exec(change); err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			body, err := other.Body(t.Context(), id)
			var got []byte
			if err == nil {
				got, err = io.ReadAll(body)
			}
			switch {
			case errors.Is(err, transcript.ErrDamaged), errors.Is(err, transcript.ErrNotFound):
				noticed++
			case err != nil:
				t.Fatal(err)
			case !bytes.Equal(got, want[i]):
				t.Fatalf("byte %d of the pack changed: body %d comes back as %.60q", at, i, got)
			}
		}
		other.Close()
	}
	if noticed == 0 {
		t.Error("no change was noticed")
	}
}
