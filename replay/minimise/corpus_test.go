package minimise_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/minimise"
	"github.com/retake-debugger/retake/replay/replaytest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// Of every recorded request parts can be left out: nothing but those, and hardly any
// candidate has an error that the whole request has not.
func TestCorpus_PartsAreLeftOut(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the whole corpus")
	}
	captures := replaytest.Corpus(t)
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	count := map[string]int{}
	for batch := range slices.Chunk(captures, 200) {
		stored, err := ingest.Commit(context.Background(), db, batch)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range stored {
			switch e.Dialect {
			case transcript.Chat, transcript.Responses, transcript.Messages:
				if whole, _, err := replay.Full(context.Background(), db, e); err == nil && json.Valid(whole) {
					req := replaytest.Prepare(t, db, e)
					if err := req.Whole(context.Background(), db); err != nil {
						t.Fatal(err)
					}
					leaveOut(t, fmt.Sprintf("%s x%d", batch[i].Label, e.N), req, whole, count)
				}
			}
		}
	}
	for _, d := range []string{"chat", "responses", "messages"} {
		t.Logf("%-9s %d requests, %d candidates, %d of them not to be sent", d, count[d], count[d+" candidates"], count[d+" illegal"])
		if count[d+" candidates"] == 0 || count[d+" illegal"]*20 > count[d+" candidates"] {
			t.Errorf("%s: too many candidates cannot be sent, or none is there", d)
		}
	}
}

func leaveOut(t *testing.T, name string, req *replay.Request, whole []byte, count map[string]int) {
	t.Helper()
	d := req.Speaks()
	apart, err := minimise.TakeApart(req)
	if err != nil {
		t.Fatal(err)
	}
	all, err := apart.Keep(func(minimise.Part, int) bool { return true })
	if err != nil || string(all.Body) != string(whole) || len(all.Errors) > 0 {
		t.Errorf("%s: with everything it is another request (%v)", name, err)
		return
	}
	count[string(d)]++
	r := rand.New(rand.NewPCG(uint64(len(whole)), 1))
	tries := []func(minimise.Part, int) bool{
		func(minimise.Part, int) bool { return false },
		func(p minimise.Part, _ int) bool { return p != minimise.Items },
		func(p minimise.Part, _ int) bool { return p != minimise.Tools },
		func(p minimise.Part, i int) bool { return p != minimise.Lines || i%2 == 0 },
	}
	for range min(apart.Units(), 12) {
		one := r.IntN(apart.Units())
		tries = append(tries, func(p minimise.Part, i int) bool { return p != minimise.Items || i != one },
			func(p minimise.Part, i int) bool { return p != minimise.Items || i == one },
			func(minimise.Part, int) bool { return r.IntN(2) == 0 })
	}
	before := keysOf(d, whole)
	for i, keep := range tries {
		c, err := apart.Keep(keep)
		if err != nil || !json.Valid(c.Body) {
			t.Errorf("%s, candidate %d: %v", name, i, err)
			continue
		}
		count[string(d)+" candidates"]++
		if len(c.Errors) > 0 {
			if count[string(d)+" illegal"]++; count[string(d)+" illegal"] <= 5 {
				t.Logf("%s, candidate %d: %s at %s: %s", name, i, c.Errors[0].Code, c.Errors[0].At, c.Errors[0].Message)
			}
		}
		if i == 1 || i > 3 && (i-4)%3 < 2 { // items alone were left out: what is there was there
			for key, n := range keysOf(d, c.Body) {
				if before[key] < n {
					t.Errorf("%s, candidate %d has an item that the request has not", name, i)
				}
			}
		}
	}
}

func keysOf(d transcript.Dialect, body []byte) map[transcript.Key]int {
	keys := map[transcript.Key]int{}
	items := dialect.Decode(d, &dialect.Wire{Method: "POST", Request: body}).Input
	for i := range items {
		keys[transcript.KeyOf(&items[i])]++
	}
	return keys
}
