package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// survey reads all there is. whole are the exchanges that come back byte for
// byte, broken those that say that they do not.
func survey(t *testing.T, db *store.DB, f transcript.Filter) (whole, broken int) {
	t.Helper()
	for e, err := range db.Exchanges(t.Context(), f) {
		if errors.Is(err, transcript.ErrDamaged) {
			broken++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if intact(t, db, &e.Request) && intact(t, db, &e.Response) {
			whole++
		} else {
			broken++
		}
	}
	return whole, broken
}

// intact reports whether a body comes back; one that comes back otherwise fails
// the test.
func intact(t *testing.T, db *store.DB, m *transcript.Message) bool {
	t.Helper()
	body, err := db.Body(t.Context(), m.Body)
	if errors.Is(err, transcript.ErrNotFound) || errors.Is(err, transcript.ErrDamaged) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	if _, err := io.Copy(h, body); errors.Is(err, transcript.ErrDamaged) {
		return false
	} else if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil)) == m.SHA256
}

// A damaged file is noticed, and the exchanges that are not touched by it can
// be read.
func TestOpenReader_OfDamagedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conversations(t, db, 1, 5, 60, 4000)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = store.OpenReader(path); err != nil {
		t.Fatal(err)
	}
	// leaf returns the next page from one on that is not what a whole table hangs on.
	leaf := func(from int) int {
		t.Helper()
		return int(number(t, db, fmt.Sprintf(`WITH RECURSIVE page (n) AS (SELECT %d UNION ALL SELECT n + 1 FROM page LIMIT 100)
			SELECT min(n) - 1 FROM page WHERE n NOT IN (SELECT rootpage FROM sqlite_schema)`, from+1)))
	}
	pages := int(number(t, db, "PRAGMA page_count"))
	late, half := leaf(pages*3/4), leaf(pages/2)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := len(file) / pages
	fill := func(first, last int, with byte) func([]byte) []byte {
		return func(b []byte) []byte {
			for i := first * page; i < last*page; i++ {
				b[i] = with
			}
			return b
		}
	}
	for name, c := range map[string]struct {
		damage func([]byte) []byte
		least  int // exchanges that must come back
	}{
		"nothing":       {func(b []byte) []byte { return b }, 300},
		"cut by a page": {func(b []byte) []byte { return b[:len(b)-page] }, 200},
		"cut in a page": {func(b []byte) []byte { return b[:len(b)-page/2] }, 200},
		"a tenth cut":   {func(b []byte) []byte { return b[:len(b)/10*9] }, 100},
		"half cut":      {func(b []byte) []byte { return b[:len(b)/2] }, 0}, // what all build on may be in the other half
		// Which page this is differs from file to file: what two thirds build on may be
		// in it. On early ones all may build.
		"a page of zeros": {fill(half, half+1, 0), 50},
		"a page of noise": {fill(late, late+1, 0x5a), 50},
		"pages of zeros":  {fill(pages-12, pages-2, 0), 100},
		"the last page":   {fill(pages-1, pages, 0xff), 200},
		"a byte in each": {func(b []byte) []byte {
			for i := 20 * page; i < len(b); i += 10 * page {
				b[i+page/2] ^= 1
			}
			return b
		}, 0},
		"more at the end": {func(b []byte) []byte { return append(b, make([]byte, page+100)...) }, 300},
	} {
		t.Run(name, func(t *testing.T) {
			hurt := filepath.Join(t.TempDir(), "retake.db")
			if err := os.WriteFile(hurt, c.damage(append([]byte(nil), file...)), 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := store.OpenReader(hurt)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			whole, broken := survey(t, db, transcript.Filter{})
			again, brokenAgain := survey(t, db, transcript.Filter{Oldest: true})
			t.Logf("%d whole, %d broken", whole, broken)
			if whole != again || broken != brokenAgain || whole < c.least {
				t.Errorf("%d whole and %d broken, from the oldest %d and %d, want at least %d", whole, broken, again, brokenAgain, c.least)
			}
			if some, _ := survey(t, db, transcript.Filter{Limit: 7}); whole >= 100 && some > 7 {
				t.Errorf("%d listed, want at most 7", some)
			}
			problems, err := db.Verify(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if clean := len(problems) == 0; clean && (whole < 300 || strings.Contains(name, "cut")) || !clean && name == "nothing" {
				t.Errorf("%d whole, but verify says %v", whole, problems)
			}
		})
	}
}

// Of a file that lost its end the runs that can be read are listed, those that cannot
// be added up as damaged, with an error that says how many cannot be read.
func TestRuns_OfADamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const runs, pageBytes = 400, 16 << 10
	conversations(t, db, 1, runs, 1, 300)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	some := 0
	for _, tenths := range []int{10, 9, 8, 7, 6, 5, 4} {
		if err := os.WriteFile(path, file[:len(file)/10*tenths/pageBytes*pageBytes], 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := store.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		list, lost := db.Runs(t.Context(), transcript.RunFilter{})
		t.Logf("%d tenths: %d runs, %v", tenths, len(list), lost)
		if lost != nil && !errors.Is(lost, transcript.ErrDamaged) || lost == nil && len(list) != runs && !db.Cut() {
			t.Errorf("%d tenths: %d runs, %v", tenths, len(list), lost)
		}
		if n := runs - len(list); lost != nil && !db.Cut() && !strings.HasPrefix(lost.Error(), fmt.Sprint(n, " runs cannot be read, the newest of them r")) {
			t.Errorf("%d runs are missing, but %v", n, lost)
		}
		if len(list) > 0 && list[0].Damaged {
			some++
		}
		few, err := db.Runs(t.Context(), transcript.RunFilter{Limit: 3, Before: runs, Dialect: transcript.Chat})
		if len(few) > 3 || err != nil && !errors.Is(err, transcript.ErrDamaged) {
			t.Errorf("%d runs, want at most 3: %v", len(few), err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if some == 0 {
		t.Error("no cut left some of the runs")
	}
}
