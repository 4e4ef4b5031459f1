package store_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

func number(tb testing.TB, db *store.DB, query string, args ...any) int64 {
	tb.Helper()
	n, err := db.Number(tb.Context(), query, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// record stores the next steps of a conversation, each in a transaction of its
// own, and returns the raw bytes that were sent.
func record(tb testing.TB, db *store.DB, c *conversation, first, steps, perStep int) (raw int64, last *transcript.Exchange) {
	tb.Helper()
	for n := first; n < first+steps; n++ {
		last = example(n)
		request, response := c.next(perStep), [][]byte{element(c.r, 600)}
		if c.text != nil {
			response = [][]byte{c.text(600)}
		}
		last.Request.SHA256, last.Response.SHA256 = hash(request), hash(response)
		if err := db.Update(tb.Context(), func(tx transcript.Tx) error { return putStep(tx, last, request, response) }); err != nil {
			tb.Fatal(err)
		}
		raw += last.Request.Bytes + last.Response.Bytes
	}
	return raw, last
}

func hash(parts [][]byte) string {
	sum := sha256.Sum256(bytes.Join(parts, nil))
	return hex.EncodeToString(sum[:])
}

const (
	recipeBytes = "SELECT sum(length(recipe)) FROM body"
	storedBytes = `SELECT (SELECT sum(length(recipe)) + 12*count(*) FROM body) + (SELECT 16*(part + whole) FROM state) +
		(SELECT coalesce(sum(length(data) + length(lengths)), 0) FROM part_pack) + (SELECT coalesce(sum(length(data) + length(lengths)), 0) FROM whole_pack)`
)

// bodiesOf is what bodies take up in a file that nobody has open.
func bodiesOf(tb testing.TB, path string) int64 {
	tb.Helper()
	db, err := store.OpenReader(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	return number(tb, db, storedBytes)
}

// A run costs what is new at each step, however long its history is, also when
// the client moves a cache marker through it.
func TestGrowth_IsLinear(t *testing.T) {
	for _, marked := range []int{0, 1, 3} {
		t.Run(fmt.Sprintf("%d old elements change", marked), func(t *testing.T) {
			db := openDB(t)
			c := newConversation(1, 20_000)
			c.marked = marked
			var raw, before int64
			next := 1
			for _, upTo := range []int{100, 300, 600} {
				r, last := record(t, db, c, next, upTo-next+1, 700)
				raw += r
				recipes := number(t, db, recipeBytes)
				perStep := float64(recipes-before) / float64(upTo-next+1)
				t.Logf("%4d steps: %6.1f bytes of recipe a step since the line before, %d of %d raw bytes stored (1/%.0f), %d packs",
					upTo, perStep, number(t, db, storedBytes), raw, float64(raw)/float64(number(t, db, storedBytes)), number(t, db, "SELECT count(*) FROM part_pack"))
				if limit := 60.0 + 20*float64(marked); perStep > limit {
					t.Errorf("%.1f bytes of recipe a step after %d steps, want at most %.0f", perStep, upTo, limit)
				}
				// Two new elements a step, each once with and once without the mark, one tail; one answer.
				if got, most := number(t, db, "SELECT part + whole FROM state"), int64(upTo*(3+2*marked)+2); got > most {
					t.Errorf("%d segments, want at most %d", got, most)
				}
				body, err := db.Body(t.Context(), last.Request.Body)
				if err != nil {
					t.Fatal(err)
				}
				h := sha256.New()
				if _, err := io.Copy(h, body); err != nil {
					t.Fatal(err)
				}
				if got := hex.EncodeToString(h.Sum(nil)); got != last.Request.SHA256 {
					t.Errorf("the last body came back changed")
				}
				before, next = recipes, upTo+1
			}
		})
	}
}

// Many conversations at once, and tools that return what another one's did.
func TestGrowth_ManyAgentsAtOnce(t *testing.T) {
	db := openDB(t)
	r := rand.New(rand.NewPCG(5, 5))
	var agents []*conversation
	for i := range 16 {
		c := newConversation(uint64(i), 2_000)
		agents = append(agents, c)
	}
	const steps = 16 * 60
	for n := range steps {
		c := agents[r.IntN(len(agents))]
		if r.IntN(3) == 0 {
			c.history = append(c.history, fmt.Appendf(nil, `,{"role":"tool","content":"OK %d"}`, r.IntN(10)))
		}
		record(t, db, c, n+1, 1, 300)
	}
	perStep := float64(number(t, db, recipeBytes)) / steps
	t.Logf("%.1f bytes of recipe a step", perStep)
	if perStep > 80 {
		t.Errorf("%.1f bytes of recipe a step", perStep)
	}
}

// What a run of 200 steps makes of the file, and that the log beside it stays
// small while it is written without a pause.
func TestGrowth_OfTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	empty := fileSize(t, newFile(t, path))
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := record(t, db, newConversation(1, 20_000), 1, 200, 2500)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	stored := bodiesOf(t, path)
	grown := fileSize(t, path) - empty
	t.Logf("%d raw bytes: bodies 1/%.0f, the file grew by %d, 1/%.0f", raw, float64(raw)/float64(stored), grown, float64(raw)/float64(grown))
	if grown*60 > raw {
		t.Errorf("the file grew by %d for %d raw bytes", grown, raw)
	}
}

// The same with texts of real transcripts, none of them twice.
func TestGrowth_OfRealText(t *testing.T) {
	const folder = "../../shared/corpus/long/dev"
	files, err := filepath.Glob(folder + "/*/*")
	if err != nil || len(files) == 0 {
		t.Skip("no transcripts in " + folder)
	}
	var text []byte
	for _, name := range files {
		if b, err := os.ReadFile(name); err == nil {
			text = append(text, b...)
		}
	}
	take := func(n int) []byte {
		b := text[:min(n, len(text))]
		text = text[len(b):]
		return b
	}
	for _, marked := range []int{0, 3} {
		path := filepath.Join(t.TempDir(), "retake.db")
		empty := fileSize(t, newFile(t, path))
		db, err := store.Open(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := newConversation(1, 0)
		c.marked, c.text = marked, take
		c.history[0] = take(20_000)
		raw, _ := record(t, db, c, 1, 200, 2500)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		stored := bodiesOf(t, path)
		grown := fileSize(t, path) - empty
		t.Logf("%d old elements change: %d raw bytes: bodies 1/%.0f, the file grew by %d, 1/%.0f", marked, raw,
			float64(raw)/float64(stored), grown, float64(raw)/float64(grown))
		if limit := []int64{100, 0, 0, 80}[marked]; grown*limit > raw || stored*150 > raw && marked == 0 {
			t.Errorf("the file grew by %d, bodies take %d, for %d raw bytes", grown, stored, raw)
		}
	}
}

func TestCheckpoint_KeepsTheLogSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := rand.NewChaCha8([32]byte{1})
	noise := make([]byte, 500<<10)
	for range 300 { // 150 MB that do not compress
		_, _ = r.Read(noise)
		err := db.Update(t.Context(), func(tx transcript.Tx) error {
			_, err := tx.PutBody(seq([][]byte{noise}))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if size := fileSize(t, path+"-wal"); size > 120<<20 {
		t.Errorf("the log has %d bytes", size)
	} else {
		t.Logf("the log has %d bytes", size)
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// However many pieces a body has, its recipe stays within bounds.
func TestPutBody_MillionsOfPieces(t *testing.T) {
	db := openDB(t)
	const total = 1<<20 + 300_000
	var id transcript.BodyID
	sent := sha256.New()
	err := db.Update(t.Context(), func(tx transcript.Tx) (err error) {
		id, err = tx.PutBody(func(yield func([]byte, error) bool) {
			for i := range total {
				piece := []byte{byte(i % 7), byte(i >> 20)}
				sent.Write(piece)
				if !yield(piece, nil) {
					return
				}
			}
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	body, err := db.Body(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	got := sha256.New()
	if n, err := io.Copy(got, body); n != 2*total || err != nil || !bytes.Equal(got.Sum(nil), sent.Sum(nil)) {
		t.Errorf("%d bytes instead of %d, %v", n, 2*total, err)
	}
	if n := number(t, db, "SELECT part + whole FROM state"); n > 50 {
		t.Errorf("%d segments", n)
	}
}

func TestBody_EqualPiecesAreStoredOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	piece, big := bytes.Repeat([]byte("abc"), 1000), make([]byte, 300<<10)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(big)
	put := func(db *store.DB, parts ...[]byte) (id transcript.BodyID) {
		t.Helper()
		err := db.Update(t.Context(), func(tx transcript.Tx) (err error) {
			id, err = tx.PutBody(seq(parts))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for round := range 3 { // what was stored before the file was opened counts too
		db, err := store.Open(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a, b := put(db, piece, big, piece), put(db, piece, big, piece)
		if a != b {
			t.Errorf("round %d: the same body is %d and %d", round, a, b)
		}
		put(db, piece)
		put(db, big, piece)
		if n := number(t, db, "SELECT part + whole FROM state"); n != 2 {
			t.Errorf("round %d: %d segments, want 2", round, n)
		}
		if n := number(t, db, "SELECT (SELECT sum(bytes) FROM part_pack) + (SELECT sum(bytes) FROM whole_pack)"); n != int64(len(piece)+len(big)) {
			t.Errorf("round %d: %d bytes in packs, want %d", round, n, len(piece)+len(big))
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 5<<18 {
		t.Errorf("the file: %v, %v", info.Size(), err)
	}
}
