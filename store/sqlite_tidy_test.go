package store_test

import (
	"path/filepath"
	"testing"

	"github.com/retake-debugger/retake/store"
)

// The last packs of a run are not compressed until the file is closed. Another
// process that writes to it goes on from what they are then.
func TestClose_CompressesTheLastPacks(t *testing.T) {
	const packs = "SELECT count(*) FROM part_pack"
	path := filepath.Join(t.TempDir(), "retake.db")
	var dbs [2]*store.DB
	for i := range dbs {
		var err error
		if dbs[i], err = store.Open(path, store.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	one, other := dbs[0], dbs[1]
	c := newConversation(1, 5000)
	record(t, one, c, 1, 10, 1500)
	record(t, other, c, 11, 10, 1500)
	if n := number(t, one, packs); n != 20 {
		t.Errorf("%d packs, want one for each step", n)
	}
	loose := number(t, one, storedBytes)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if n := number(t, one, packs); n != 1 {
		t.Errorf("%d packs when it is closed, want them to be one", n)
	}
	if now := number(t, one, storedBytes); now*3 > loose*2 {
		t.Errorf("bodies take up %d bytes, and took up %d before it was closed", now, loose)
	}
	if free := number(t, one, "SELECT freelist_count FROM pragma_freelist_count"); free > 0 {
		t.Errorf("%d pages are free", free)
	}
	record(t, one, c, 21, 120, 1500) // more than a pack takes
	wholeFile(t, one)
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	record(t, again, c, 141, 3, 1500)
	wholeFile(t, again)
	if n := number(t, again, "SELECT count(*) FROM exchange"); n != 143 {
		t.Errorf("%d exchanges, want 143", n)
	}
}
