package store_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// indexed is an item with the exchange that brings it.
type indexed struct {
	transcript.SearchItem
	e *transcript.Exchange
}

var searchVocabulary = strings.Fields("alpha beta gamma delta error panic timeout 数据库 подключение don't a.b() the an")

// indexExchanges stores exchanges of all sorts with a few items each.
func indexExchanges(t *testing.T, db *store.DB, r *rand.Rand, n int) (items []indexed) {
	t.Helper()
	begin := time.Unix(1_700_000_000, 0)
	for at := 0; at < n; {
		batch := min(1+r.IntN(40), n-at)
		err := db.Update(t.Context(), func(tx transcript.Tx) error {
			var p transcript.SearchTexts
			var text transcript.SearchText
			for range batch {
				at++
				// The clock jumps now and then.
				e := &transcript.Exchange{ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", at), StartedAt: begin.Add(time.Duration(at-r.IntN(1+r.IntN(50))) * time.Minute),
					Method: "POST", URL: "https://api.example.com/v1/messages", Status: 200, Outcome: transcript.OK, Dialect: transcript.Messages,
					Model: []string{"big", "big", "big-mini", "rare"}[r.IntN(3)+r.IntN(20)/19]}
				switch r.IntN(20) {
				case 0:
					e.Status, e.Outcome = 429, transcript.HTTPError
				case 1:
					e.Status, e.Outcome = 503, transcript.HTTPError
				case 2:
					e.Outcome = transcript.StreamError
				}
				if err := tx.PutExchange(e); err != nil {
					return err
				}
				p.Exchanges = append(p.Exchanges, transcript.Unindexed{N: e.N})
				for i := range 1 + r.IntN(3) {
					var words []string
					for range 1 + r.IntN(6) {
						words = append(words, searchVocabulary[r.IntN(len(searchVocabulary))])
					}
					it := transcript.SearchItem{Exchange: e.N, Body: "request", At: fmt.Sprintf("/messages/%d", i), Kind: transcript.ToolResult,
						Tool: []string{"", "bash", "read_file"}[r.IntN(3)], IsError: r.IntN(4) == 0, Text: strings.Join(words, " ")}
					items = append(items, indexed{it, e})
					text.Items = append(text.Items, it)
				}
				if r.IntN(8) == 0 {
					p.Texts, text = append(p.Texts, text), transcript.SearchText{}
				}
			}
			if p.Last = true; len(text.Items) > 0 {
				p.Texts = append(p.Texts, text)
			}
			ok, err := tx.PutTexts(p)
			if err == nil && !ok {
				err = errors.New("nothing was indexed")
			}
			return err
		})
		if errors.Is(err, transcript.ErrNoIndex) {
			t.Skip("this build has no search index")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return items
}

func randomFilter(r *rand.Rand, n int) transcript.SearchQuery {
	var q transcript.SearchQuery
	some := func() time.Time { return time.Unix(1_700_000_000, 0).Add(time.Duration(r.IntN(n+2)) * time.Minute) }
	if r.IntN(2) == 0 {
		q.Text = searchVocabulary[r.IntN(len(searchVocabulary))]
		if len([]rune(q.Text)) < 3 {
			q.Text = "the"
		}
	}
	if r.IntN(3) == 0 {
		q.Status = [][2]int{{429, 429}, {500, 599}, {200, 200}, {100, 499}}[r.IntN(4)]
	}
	if r.IntN(3) == 0 {
		q.Outcome = []transcript.Outcome{transcript.OK, transcript.HTTPError, transcript.StreamError, transcript.UpstreamReset}[r.IntN(4)]
	}
	if r.IntN(3) == 0 {
		q.Model = []string{"mini", "BIG", "rare", "none"}[r.IntN(4)]
	}
	if r.IntN(3) == 0 {
		q.After = some()
	}
	if r.IntN(3) == 0 {
		q.Before = some()
	}
	if r.IntN(5) == 0 {
		q.Tool = []string{"ba", "file", "nothing"}[r.IntN(3)]
	}
	q.Errors = r.IntN(6) == 0
	return q
}

// wanted looks at everything itself.
func wanted(items []indexed, q *transcript.SearchQuery) []string {
	var list []string
	for _, it := range slices.Backward(items) {
		e := it.e
		if (q.Status == [2]int{} || e.Status >= q.Status[0] && e.Status <= q.Status[1]) && (q.Outcome == "" || e.Outcome == q.Outcome) &&
			strings.Contains(e.Model, strings.ToLower(q.Model)) && (q.After.IsZero() || !e.StartedAt.Before(q.After)) &&
			(q.Before.IsZero() || e.StartedAt.Before(q.Before)) && (!q.Errors || it.IsError) && strings.Contains(it.Tool, q.Tool) && strings.Contains(it.Text, q.Text) {
			list = append(list, fmt.Sprintf("x%d %s", it.Exchange, it.At))
		}
	}
	return list
}

// However many exchanges pass the filters, so that they are looked through one by
// one, listed, bounded or asked about text by text, the same is found.
func TestSearch_EveryWayOfFilteringFindsTheSame(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := rand.New(rand.NewPCG(21, 22))
	const exchanges = 600
	items := indexExchanges(t, db, r, exchanges)
	texts := map[string]string{}
	for _, it := range items {
		texts[fmt.Sprintf("x%d %s", it.Exchange, it.At)] = it.Text
	}
	limits := map[string][3]int{"one by one": {exchanges, exchanges, exchanges}, "listed": {0, exchanges, exchanges}, "bounded": {0, 3, exchanges}, "by text": {0, 0, 0}}
	found := 0
	for range 400 {
		q := randomFilter(r, exchanges)
		want := wanted(items, &q)
		found += len(want)
		for way, l := range limits {
			db.SetSearchLimits(l[0], l[1], l[2])
			var got []string
			var numbers []int64
			for it, err := range db.Search(t.Context(), q) {
				if err != nil {
					t.Fatalf("%s: %+v: %v", way, q, err)
				}
				place := fmt.Sprintf("x%d %s", it.Exchange, it.At)
				if strings.Contains(texts[place], q.Text) { // the index may give more
					got, numbers = append(got, place), append(numbers, it.Exchange)
				}
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: %+v (-want +got):\n%s", way, q, diff)
			}
			if !slices.IsSortedFunc(numbers, func(a, b int64) int { return cmp.Compare(b, a) }) {
				t.Errorf("%s: %+v: not newest first: %v", way, q, numbers)
			}
		}
	}
	if found < 10_000 {
		t.Errorf("only %d items were looked for", found)
	}
}
