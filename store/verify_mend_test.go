package store_test

import (
	"testing"

	"github.com/retake-debugger/retake/store"
)

// Lookups that are lost are stored again, and only those.
func TestMendLookups(t *testing.T) {
	db := openDB(t)
	conversations(t, db, 1, 3, 20, 1500)
	prune(t, db, store.Selection{Numbers: []int64{5, 7, 9, 11, 20}})
	const lookups = "SELECT (SELECT count(*) FROM lookup) + (SELECT count(*) FROM lookup_recent) + (SELECT count(*) FROM lookup_new)"
	whole := number(t, db, lookups)
	if n, err := db.MendLookups(t.Context(), nil); n != 0 || err != nil {
		t.Errorf("nothing is missing: %d, %v", n, err)
	}
	for _, damage := range []string{
		"DELETE FROM lookup_recent WHERE key % 3 = 0; DELETE FROM lookup_new WHERE key % 3 = 0",
		"INSERT INTO lookup SELECT * FROM lookup_recent; DELETE FROM lookup_recent; DELETE FROM lookup WHERE key % 2 = 0; DELETE FROM lookup_new; UPDATE state SET lookups = 0, new_lookups = 0",
		"DELETE FROM lookup_new; DELETE FROM lookup_recent; DELETE FROM lookup; UPDATE state SET lookups = 0, new_lookups = 0",
	} {
		if err := db.Exec(damage); err != nil {
			t.Fatal(err)
		}
		before := number(t, db, lookups)
		if problems, err := db.Verify(t.Context(), nil); err != nil || len(problems) == 0 {
			t.Errorf("verify: %v, %v", problems, err)
		}
		n, err := db.MendLookups(t.Context(), nil)
		if after := number(t, db, lookups); err != nil || after != whole || int64(n) != after-before {
			t.Errorf("%s: %d mended, %v; %d lookups, want %d", damage, n, err, after, whole)
		}
		wholeFile(t, db)
	}
}
