package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// conversations stores steps of several agents, turn by turn, each in a run of
// its own, every step continuing the one before and answering its call.
func conversations(tb testing.TB, db *store.DB, first, count, steps, perStep int) {
	tb.Helper()
	all := make([]*conversation, count)
	last := make([]*transcript.Exchange, count)
	runs, agents := make([]string, count), make([]transcript.Agent, count)
	for n := range count * steps {
		i := n % count
		if all[i] == nil {
			all[i] = newConversation(uint64(first+i), 3000)
		}
		e := example(first + n)
		request, response := all[i].next(perStep), [][]byte{element(all[i].r, 600+70_000*(n%7/6))}
		e.Request.SHA256, e.Response.SHA256 = hash(request), hash(response)
		err := db.Update(tb.Context(), func(tx transcript.Tx) error {
			if runs[i] == "" {
				run, err := tx.NewRun(e.StartedAt)
				if err != nil {
					return err
				}
				runs[i] = run.ID
				agents[i] = transcript.Agent{Run: run.ID, Key: fmt.Sprint("agent ", i), Main: true, Evidence: "e"}
				if err := errors.Join(tx.PutAgent(&agents[i]), tx.BindRun(fmt.Sprint(first, " ", i), run.ID)); err != nil {
					return err
				}
			}
			e.Link.Run, e.Link.Agent = runs[i], agents[i].ID
			if last[i] != nil {
				e.Link.Parent = last[i].ID
			}
			if err := putStep(tx, e, request, response); err != nil {
				return err
			}
			if err := tx.PutHint(transcript.Key{byte(n), byte(n / 7)}, e.ID, "/choices/0/message/tool_calls/0"); err != nil {
				return err
			}
			if last[i] == nil {
				return nil
			}
			return tx.PutResult(last[i].ID, "/choices/0/message/tool_calls/0", transcript.ResultRow{Exchange: e.ID, At: "/messages/2", By: "id", LatencyMS: new(float64)})
		})
		if err != nil {
			tb.Fatal(err)
		}
		last[i] = e
	}
}

// prune plans on a reader, as a dry run does, and then does it.
func prune(t *testing.T, db *store.DB, s store.Selection) (*store.Plan, store.Pruned) {
	t.Helper()
	plan, err := db.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	did, err := db.Prune(t.Context(), plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plan, did
}

// wholeFile verifies what is in the file, not what the database remembers of it.
func wholeFile(t *testing.T, db *store.DB) {
	t.Helper()
	fresh, err := store.OpenReader(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	if problems, err := fresh.Verify(t.Context(), nil); err != nil || len(problems) > 0 {
		t.Fatalf("verify: %v, %v", problems, err)
	}
	for _, stream := range []string{"part_pack", "whole_pack"} {
		n := number(t, fresh, "SELECT count(*) FROM (SELECT first, lag(first + count) OVER (ORDER BY first) AS until FROM "+stream+") WHERE until > first")
		if n > 0 {
			t.Fatalf("%d of %s begin within another", n, stream)
		}
	}
}

// tidy fails if anything is left of what is gone, or gone of what is left.
func tidy(t *testing.T, db *store.DB) {
	t.Helper()
	wholeFile(t, db)
	for what, query := range map[string]string{
		"calls": "SELECT count(*) FROM pair WHERE n NOT IN (SELECT n FROM exchange)",
		"results": `SELECT count(*) FROM pair p WHERE kind = 1 AND NOT EXISTS (SELECT 1 FROM pair o WHERE (o.n, o.kind, o.call, o.other, o.at) = (p.other, 2, p.call, 0, p.at))
			OR kind = 2 AND NOT EXISTS (SELECT 1 FROM pair o WHERE (o.n, o.kind, o.call, o.other, o.at) = (p.call >> 24, 1, p.call, p.n, p.at))
			OR kind = 1 AND NOT EXISTS (SELECT 1 FROM pair c WHERE (c.n, c.kind, c.call) = (p.n, 0, p.call))`,
		"takes":    "SELECT count(*) FROM take_step WHERE exchange NOT IN (SELECT id FROM exchange) OR take NOT IN (SELECT n FROM take)",
		"runs":     "SELECT count(*) FROM run WHERE id NOT IN (SELECT run FROM exchange WHERE run IS NOT NULL)",
		"agents":   "SELECT count(*) FROM agent WHERE id NOT IN (SELECT agent FROM exchange WHERE agent IS NOT NULL)",
		"prompts":  "SELECT count(*) FROM hint WHERE n NOT IN (SELECT n FROM exchange)",
		"names":    "SELECT count(*) FROM run_key WHERE run NOT IN (SELECT id FROM run)",
		"models":   "SELECT count(*) FROM model WHERE id NOT IN (SELECT model FROM exchange)",
		"lookups":  "SELECT count(*) FROM lookup_gone",
		"free":     "SELECT freelist_count > 4 FROM pragma_freelist_count",
		"too many": "SELECT (SELECT count(*) FROM lookup_recent) <> lookups OR (SELECT count(*) FROM lookup_new) <> new_lookups FROM state",
	} {
		if n := number(t, db, query); n != 0 {
			t.Errorf("%s left behind: %d", what, n)
		}
	}
	// Of each exchange two nodes, a response id and a call; of each segment its bytes.
	lookups := number(t, db, "SELECT (SELECT count(*) FROM lookup) + (SELECT count(*) FROM lookup_recent) + (SELECT count(*) FROM lookup_new)")
	if rows := 4 * number(t, db, "SELECT count(*) FROM exchange"); lookups < rows || lookups > rows+number(t, db, "SELECT coalesce(sum(count), 0) FROM (SELECT count FROM part_pack UNION ALL SELECT count FROM whole_pack)") {
		t.Errorf("%d lookups for %d rows", lookups, rows)
	}
}

// What began nobody knows when goes by its end; what has no time at all stays.
func TestPrune_OlderThanOfUnknownTimes(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "retake.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	limit := example(10).StartedAt
	for i, at := range [][2]time.Time{
		{limit.Add(-time.Hour), limit.Add(-time.Minute)}, {limit.Add(-time.Hour), limit.Add(time.Hour)}, {limit.Add(-time.Hour), {}}, {{}, limit.Add(-time.Minute)},
		{{}, limit.Add(time.Minute)}, {limit, limit.Add(time.Minute)}, {}, {},
	} {
		e := example(i + 1)
		e.StartedAt, e.EndedAt = at[0], at[1]
		request, response := [][]byte{[]byte("ask")}, [][]byte{[]byte("answer")}
		e.Request.SHA256, e.Response.SHA256 = hash(request), hash(response)
		if err := db.Update(t.Context(), func(tx transcript.Tx) error { return putStep(tx, e, request, response) }); err != nil {
			t.Fatal(err)
		}
	}
	plan, did := prune(t, db, store.Selection{Before: limit})
	if want := []int64{1, 2, 3, 4}; !slices.Equal(plan.Numbers, want) || plan.Undated != 2 || plan.Estimated || did.Exchanges != 4 {
		t.Errorf("%+v, removed %d; want %v, 2 undated", plan, did.Exchanges, want)
	}
}

// What is free in the file already is told beside what a prune frees, and goes back.
func TestPrune_OfWhatIsFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conversations(t, db, 1, 2, 20, 4000)
	own, err := sql.Open("sqlite3", path)
	if err == nil {
		_, err = own.Exec("CREATE TABLE passing AS SELECT randomblob(400000) AS b; DROP TABLE passing")
		err = errors.Join(err, own.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	plan, did := prune(t, db, store.Selection{MaxBytes: 1 << 40})
	if len(plan.Numbers) > 0 || plan.Free < 400_000 || !plan.Estimated || did.Free != plan.Free || did.Before != plan.Size || did.File > plan.Size {
		t.Errorf("plan %+v, did %+v", plan, did)
	}
}

func TestPrune_OlderThan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conversations(t, db, 1, 5, 60, 4000)
	before := number(t, db, "SELECT sum(request_bytes + response_bytes) FROM exchange WHERE n > 200")
	plan, did := prune(t, db, store.Selection{Before: example(201).StartedAt})
	if len(plan.Numbers) != 200 || plan.Numbers[0] != 1 || plan.Total != 300 || did.Exchanges != 200 {
		t.Errorf("plan %d of %d from %d, removed %d", len(plan.Numbers), plan.Total, plan.Numbers[0], did.Exchanges)
	}
	freed := did.Before - did.After
	t.Logf("planned to free about %d of %d bytes, freed %d", plan.Bytes, plan.Size, freed)
	if plan.Size != did.Before || freed < plan.Bytes/2 || freed > plan.Bytes*2 {
		t.Errorf("planned %d of %d, freed %d of %d", plan.Bytes, plan.Size, freed, did.Before)
	}
	if size := fileSize(t, path); size != did.After || size != did.File {
		t.Errorf("the file has %d bytes, said were %d and %d", size, did.After, did.File)
	}
	if left := number(t, db, "SELECT sum(request_bytes + response_bytes) FROM exchange"); left != before {
		t.Errorf("%d bytes kept, want %d", left, before)
	}
	tidy(t, db)
	// The recorder goes on, with what it resends and what is gone.
	conversations(t, db, 1, 5, 20, 4000)
	tidy(t, db)
	e, err := db.ExchangeN(t.Context(), 201)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exchange(t.Context(), e.Link.Parent); err == nil || e.Link.Parent == "" {
		t.Errorf("the parent of x201: %q, %v", e.Link.Parent, err)
	}
	if line, err := db.Line(t.Context(), e.ID); err != nil || len(line) != 1 {
		t.Errorf("line: %v, %v", line, err)
	}
	if pruned, err := db.Pruned(t.Context()); !pruned || err != nil {
		t.Errorf("pruned: %v, %v", pruned, err)
	}
}

func TestPrune_Everything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	empty := fileSize(t, newFile(t, path))
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conversations(t, db, 1, 3, 40, 3000)
	if err := db.Update(t.Context(), func(tx transcript.Tx) error {
		return tx.PutTake(&transcript.Take{ID: example(9000).ID, Origin: example(1).ID, Steps: []transcript.TakeStep{{Exchange: example(2).ID, Step: 1, Attempt: 1}}, Edits: "[]"})
	}); err != nil {
		t.Fatal(err)
	}
	prune(t, db, store.Selection{Before: time.Unix(1<<32, 0)})
	tidy(t, db)
	for _, table := range []string{"exchange", "pair", "take", "run", "agent", "run_key", "hint", "model", "body", "part_pack", "whole_pack", "lookup", "lookup_recent", "lookup_new"} {
		if n := number(t, db, "SELECT count(*) FROM "+table); n != 0 {
			t.Errorf("%d rows of %s are left", n, table)
		}
	}
	if size := fileSize(t, path); size > empty+32<<10 {
		t.Errorf("the file has %d bytes, an empty one %d", size, empty)
	}
	conversations(t, db, 1, 3, 40, 3000)
	tidy(t, db)
	if n := number(t, db, "SELECT min(n) FROM exchange"); n != 121 {
		t.Errorf("numbers begin at %d again", n)
	}
}

// The report of a sample quotes what its takes said: it goes with the last of them.
func TestPrune_ReportsGoWithTheirTakes(t *testing.T) {
	db := openDB(t)
	conversations(t, db, 1, 1, 6, 500)
	err := db.Update(t.Context(), func(tx transcript.Tx) error {
		for i, group := range []string{"one", "one", "another"} {
			take := &transcript.Take{ID: example(9000 + i).ID, Origin: example(1).ID, Group: group, Steps: []transcript.TakeStep{{Exchange: example(2 + i).ID, Step: 1, Attempt: 1}}, Edits: "[]"}
			if err := errors.Join(tx.PutTake(take), tx.SetNote(transcript.SampleNote(group), "a report")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		exchange     int64
		one, another string
	}{{2, "a report", "a report"}, {3, "", "a report"}, {4, "", ""}} {
		prune(t, db, store.Selection{Numbers: []int64{c.exchange}})
		one, err := db.Note(t.Context(), transcript.SampleNote("one"))
		another, err2 := db.Note(t.Context(), transcript.SampleNote("another"))
		if one != c.one || another != c.another || err != nil || err2 != nil {
			t.Errorf("without x%d: %q and %q (%v, %v)", c.exchange, one, another, err, err2)
		}
	}
}

func TestPrune_Named(t *testing.T) {
	db := openDB(t)
	conversations(t, db, 1, 2, 20, 3000)
	// A take whose replay goes, one whose origin goes.
	if err := db.Update(t.Context(), func(tx transcript.Tx) error {
		if err := tx.PutTake(&transcript.Take{ID: example(9000).ID, Origin: example(1).ID, Steps: []transcript.TakeStep{{Exchange: example(5).ID, Step: 1, Attempt: 1}}, Edits: "[]"}); err != nil {
			return err
		}
		return tx.PutTake(&transcript.Take{ID: example(9001).ID, Origin: example(5).ID, Steps: []transcript.TakeStep{{Exchange: example(6).ID, Step: 1, Attempt: 1}}, Edits: "[]"})
	}); err != nil {
		t.Fatal(err)
	}
	plan, did := prune(t, db, store.Selection{Numbers: []int64{20, 5, 5, 7000}})
	if !slices.Equal(plan.Numbers, []int64{5, 20, 7000}) || did.Exchanges != 2 {
		t.Errorf("plan %v, removed %d", plan.Numbers, did.Exchanges)
	}
	tidy(t, db)
	takes, err := db.Takes(t.Context(), "")
	if err != nil || len(takes) != 1 || takes[0].Last() != example(6).ID {
		t.Errorf("takes: %v, %v", takes, err)
	}
	calls, err := db.Calls(t.Context(), []string{example(3).ID})
	if err != nil || len(calls) != 1 || len(calls[0].Results) != 0 {
		t.Errorf("the call whose result is gone: %v, %v", calls, err)
	}
}

// Whatever goes, in whatever order, the rest comes back.
func TestPrune_AnyExchanges(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			db := openDB(t)
			r := rand.New(rand.NewPCG(seed, 1))
			for round := range 4 {
				conversations(t, db, 1+1000*round, 2+r.IntN(8), 10+r.IntN(20), 1000+r.IntN(9000))
				var numbers []int64
				first, share := int64(r.IntN(300)), 1+r.IntN(4)
				for n := first; n < first+300; n++ {
					if r.IntN(share) == 0 {
						numbers = append(numbers, n)
					}
				}
				prune(t, db, store.Selection{Numbers: numbers})
				tidy(t, db)
			}
		})
	}
}

// What is left of two packs does not become one around a third.
func TestPrune_PacksThatStayBetweenOthers(t *testing.T) {
	db := openDB(t)
	r := rand.New(rand.NewPCG(1, 1))
	for n := 1; n <= 90; n++ {
		e, request := example(n), [][]byte{element(r, 3000), element(r, 3000)}
		e.Request.SHA256, e.Response.SHA256 = hash(request), hash(nil)
		if err := db.Update(t.Context(), func(tx transcript.Tx) error { return putStep(tx, e, request, nil) }); err != nil {
			t.Fatal(err)
		}
	}
	packs := number(t, db, "SELECT count(*) FROM part_pack")
	var numbers []int64 // four of five, but for those of every second pack
	for n := int64(1); n <= 90; n++ {
		if pack := number(t, db, "SELECT count(*) FROM part_pack WHERE first <= ?", 2*n-1); pack%2 == 0 && n%5 > 0 {
			numbers = append(numbers, n)
		}
	}
	if packs < 5 || len(numbers) < 10 {
		t.Fatalf("%d packs, %d exchanges to remove", packs, len(numbers))
	}
	prune(t, db, store.Selection{Numbers: numbers})
	tidy(t, db)
}

func TestPrune_MaxSize(t *testing.T) {
	db := openDB(t)
	conversations(t, db, 1, 6, 100, 6000)
	size := number(t, db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
	for _, most := range []int64{size, size * 3 / 4, size / 2, 1 << 20} {
		plan, did := prune(t, db, store.Selection{MaxBytes: most})
		t.Logf("at most %d: %d of %d exchanges go, %d bytes left", most, did.Exchanges, plan.Total, did.After)
		if did.After > most {
			t.Errorf("%d bytes are left, want at most %d", did.After, most)
		}
		if did.Exchanges != int64(len(plan.Numbers)) && most > 1<<20 {
			t.Errorf("%d were planned, %d removed", len(plan.Numbers), did.Exchanges)
		}
		if did.After < most*3/4 && most > 1<<20 {
			t.Errorf("%d bytes are left, %d may be", did.After, most)
		}
		tidy(t, db)
	}
	if plan, _ := prune(t, db, store.Selection{MaxBytes: 1}); int64(len(plan.Numbers)) != plan.Total {
		t.Errorf("%d of %d go", len(plan.Numbers), plan.Total)
	}
}

// A clock that jumps back leaves later exchanges with earlier times: they go by
// their time, the others stay.
func TestPrune_ClockThatJumpedBack(t *testing.T) {
	db := openDB(t)
	c := newConversation(1, 3000)
	for n := 1; n <= 60; n++ {
		e := example(n)
		if n > 40 { // an hour back
			e.StartedAt = e.StartedAt.Add(-time.Hour)
		}
		request, response := c.next(3000), [][]byte{element(c.r, 500)}
		e.Request.SHA256, e.Response.SHA256 = hash(request), hash(response)
		if err := db.Update(t.Context(), func(tx transcript.Tx) error { return putStep(tx, e, request, response) }); err != nil {
			t.Fatal(err)
		}
	}
	_, did := prune(t, db, store.Selection{Before: example(1).StartedAt})
	if n := number(t, db, "SELECT max(n) FROM exchange"); did.Exchanges != 20 || n != 40 {
		t.Errorf("%d removed, x%d is the newest", did.Exchanges, n)
	}
	tidy(t, db)
}

// Somebody who reads keeps what they see; the file shrinks when they are done.
func TestPrune_WhileSomebodyReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conversations(t, db, 1, 3, 60, 4000)
	indexEach(t, db, 180)
	reader, err := store.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	release, count, err := reader.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, did := prune(t, db, store.Selection{Before: example(150).StartedAt})
	if did.Exchanges != 149 || did.File <= did.After {
		t.Errorf("%+v", did)
	}
	if n, err := count(); n != 180 || err != nil {
		t.Errorf("the reader sees %d exchanges, %v", n, err)
	}
	release()
	tidy(t, db)
	_, did = prune(t, db, store.Selection{Numbers: []int64{150}})
	if did.File != did.After {
		t.Errorf("the file has %d bytes, the database %d", did.File, did.After)
	}
}

// Others record while exchanges go, and send again what only those hold.
func TestPrune_WhileOthersRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	other, err := store.Open(path, store.Options{}) // as another process would
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	r := rand.New(rand.NewPCG(1, 2))
	var agents []*conversation
	for i := range 8 {
		agents = append(agents, newConversation(uint64(i), 3000))
	}
	n := 0
	record := func(db *store.DB, c *conversation) {
		n++
		e, request, response := example(n), c.next(2500), [][]byte{element(c.r, 400)}
		e.Request.SHA256, e.Response.SHA256 = hash(request), hash(response)
		if err := db.Update(t.Context(), func(tx transcript.Tx) error { return putStep(tx, e, request, response) }); err != nil {
			t.Error(err)
		}
	}
	for range 200 {
		record(other, agents[r.IntN(len(agents))])
	}
	for round := range 8 {
		plan, err := db.Plan(t.Context(), store.Selection{Before: example(n - 20).StartedAt})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			_, err := db.Prune(t.Context(), plan, nil)
			done <- err
		}()
		for running := true; running; {
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				running = false
			default:
				c := agents[r.IntN(len(agents))]
				if r.IntN(3) == 0 { // an agent that begins anew with what was said long ago
					c.history = append([][]byte{c.history[0]}, c.history[r.IntN(len(c.history)):]...)
				}
				record(other, c)
				time.Sleep(2 * time.Millisecond) // nobody records without a pause
			}
		}
		t.Logf("round %d: %d went, %d recorded so far", round, len(plan.Numbers), n)
		wholeFile(t, other)
	}
	prune(t, db, store.Selection{Before: example(n - 5).StartedAt})
	tidy(t, db)
}

// What resends the history of exchanges that are removed brings it from then on,
// on whatever branch it is and however they are removed.
func TestPrune_HistoryIsIndexedWhereItIsResent(t *testing.T) {
	parents := map[int64]int{2: 1, 3: 2, 4: 1, 5: 4}
	for name, tt := range map[string]struct {
		prunes [][]int64
		want   []transcript.Unindexed
	}{
		"one branch at once":            {[][]int64{{1, 2, 3}}, []transcript.Unindexed{{N: 4, Whole: true}}},
		"one branch, the first":         {[][]int64{{1}, {2}, {3}}, []transcript.Unindexed{{N: 4, Whole: true}}},
		"one branch, the last":          {[][]int64{{3}, {2}, {1}}, []transcript.Unindexed{{N: 4, Whole: true}}},
		"the beginning":                 {[][]int64{{1}}, []transcript.Unindexed{{N: 2, Whole: true}}},
		"the beginnings":                {[][]int64{{1, 2, 4}}, []transcript.Unindexed{{N: 3, Whole: true}, {N: 5, Whole: true}}},
		"the end":                       {[][]int64{{3, 5}}, nil},
		"all":                           {[][]int64{{1, 2, 3, 4, 5}}, nil},
		"what others do not go on from": {[][]int64{{6}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := store.Open(filepath.Join(t.TempDir(), "retake.db"), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for n := int64(1); n <= 6; n++ {
				e := example(int(n))
				e.Link = transcript.Link{}
				if p := parents[n]; p > 0 {
					e.Link.Parent = example(p).ID
				}
				texts := transcript.SearchTexts{Exchanges: []transcript.Unindexed{{N: n}}, Last: true}
				if err := db.Update(t.Context(), func(tx transcript.Tx) error {
					if err := tx.PutExchange(e); err != nil {
						return err
					}
					_, err := tx.PutTexts(texts)
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			for _, numbers := range tt.prunes {
				prune(t, db, store.Selection{Numbers: numbers})
			}
			got, err := db.Unindexed(t.Context(), 10)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("to be indexed: %v, want %v", got, tt.want)
			}
		})
	}
}
