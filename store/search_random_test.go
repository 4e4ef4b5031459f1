package store_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// plainIndex is what an index must find, looked through one by one.
type plainIndex struct {
	t       *testing.T
	db      *store.DB
	r       *rand.Rand
	items   map[int64][]transcript.SearchText // of each exchange that is indexed
	parent  map[int64]int64
	texts   []string // some that were said, to look for
	highest int64
	ops     []string
}

// letters are such that few characters make many collisions, and some change
// their length when they are folded.
var letters = []rune("aaabbbcdeAB  \n\t\x00éÉßẞİıKſ数据库🎉\u0301_.,\u00a0\ufffd")

func (x *plainIndex) text() string {
	n := 1 + x.r.IntN(40)
	switch x.r.IntN(12) {
	case 0: // about a cell, or a few
		n = 1280*(1+x.r.IntN(3)) - 110 + x.r.IntN(220)
	case 1:
		n = x.r.IntN(6000)
	case 2:
		return strings.Repeat([]string{" ", "\n", "\x00", "a", "é", "数"}[x.r.IntN(6)], n)
	case 3:
		return strings.Repeat("w", 250+x.r.IntN(12)) + " end"
	}
	ascii := x.r.IntN(2) == 0
	var s strings.Builder
	for s.Len() < n {
		switch {
		case x.r.IntN(400) == 0:
			s.WriteByte(byte(128 + x.r.IntN(128))) // not UTF-8
		case ascii:
			s.WriteByte("abcdefghijklmnopqrstuvwxyz ,.\n0123456789ABCDEF"[x.r.IntN(46)])
		default:
			s.WriteRune(letters[x.r.IntN(len(letters))])
		}
	}
	return s.String()
}

func (x *plainIndex) item(n int64, i int) transcript.SearchItem {
	it := transcript.SearchItem{Exchange: n, Body: "request", At: fmt.Sprintf("/messages/%d", i), Kind: transcript.ToolResult, Text: x.text(), Tool: []string{"", "bash", "read"}[x.r.IntN(3)], IsError: x.r.IntN(4) == 0}
	if len(x.texts) < 300 {
		x.texts = append(x.texts, it.Text)
	} else {
		x.texts[x.r.IntN(300)] = it.Text
	}
	return it
}

// say makes what an exchange brings.
func (x *plainIndex) say(n int64, most int) (list []transcript.SearchText) {
	i := 0
	for range 1 + x.r.IntN(most) {
		var text transcript.SearchText
		for range 1 + x.r.IntN(4) {
			text.Items = append(text.Items, x.item(n, i))
			i++
		}
		if x.r.IntN(8) == 0 {
			text.Items = text.Items[:1]
			k := x.r.IntN(20)
			text.Same = transcript.Key{9, byte(k)}
			text.Items[0].Text = fmt.Sprintf("setting number%d ", k) + strings.Repeat("Of It ", 20*k)
			text.Items[0].Tool, text.Items[0].IsError = "", false
		}
		list = append(list, text)
	}
	return list
}

func (x *plainIndex) update(f func(tx transcript.Tx) error) {
	x.t.Helper()
	if err := x.db.Update(x.t.Context(), f); err != nil {
		x.t.Fatal(err)
	}
}

func (x *plainIndex) op(format string, args ...any) {
	x.ops = append(x.ops, fmt.Sprintf(format, args...))
}

// put stores and indexes some exchanges, or one in parts.
func (x *plainIndex) put() {
	var p transcript.SearchTexts
	n := 1 + x.r.IntN(4)
	most := 4
	if x.r.IntN(4) == 0 {
		n, most = 1, 300
	}
	x.update(func(tx transcript.Tx) error {
		for range n {
			e := example(int(x.highest) + 1)
			e.Link = transcript.Link{}
			if x.highest > 0 && x.r.IntN(4) > 0 {
				e.Link.Parent = example(int(1 + x.r.Int64N(x.highest))).ID
			}
			if err := tx.PutExchange(e); err != nil {
				return err
			}
			if e.N != x.highest+1 {
				x.t.Fatalf("exchange %d, want %d", e.N, x.highest+1)
			}
			x.highest = e.N
			if e.Link.Parent != "" {
				p, _ := strconv.ParseInt(e.Link.Parent[24:], 16, 64)
				x.parent[e.N] = p
			}
			p.Exchanges = append(p.Exchanges, transcript.Unindexed{N: e.N})
		}
		return nil
	})
	for _, u := range p.Exchanges {
		list := x.say(u.N, most)
		p.Texts = append(p.Texts, list...)
		x.items[u.N] = list
	}
	x.op("put %d to %d, %d texts", p.Exchanges[0].N, x.highest, len(p.Texts))
	x.index(p)
}

// index puts texts, of one exchange perhaps in parts, of which the first may be
// put in vain.
func (x *plainIndex) index(p transcript.SearchTexts) {
	x.t.Helper()
	if len(p.Exchanges) > 1 || len(p.Texts) < 3 || x.r.IntN(3) == 0 {
		p.Last = true
		x.update(func(tx transcript.Tx) error {
			ok, err := tx.PutTexts(p)
			if err == nil && !ok {
				x.t.Fatalf("nothing was done; %v", p.Exchanges)
			}
			return err
		})
		return
	}
	for tries := x.r.IntN(2); tries >= 0; tries-- {
		for from := 0; from < len(p.Texts); {
			to := min(from+1+x.r.IntN(len(p.Texts)), len(p.Texts))
			part := transcript.SearchTexts{Exchanges: p.Exchanges, From: from, Texts: p.Texts[from:to], Last: to == len(p.Texts)}
			if part.Last && tries > 0 {
				x.op("broken off")
				if x.r.IntN(2) == 0 {
					x.tidy()
				}
				break
			}
			x.update(func(tx transcript.Tx) error {
				ok, err := tx.PutTexts(part)
				if err == nil && !ok {
					x.t.Fatal("nothing was done")
				}
				return err
			})
			from = to
		}
	}
}

// drop removes what an exchange introduced; another one brings it again.
func (x *plainIndex) drop() {
	var all []int64
	for n := range x.items {
		all = append(all, n)
	}
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	n := all[x.r.IntN(len(all))]
	child := int64(0)
	for c := n + 1; c <= x.highest; c++ {
		if x.parent[c] == n {
			child = c
			break
		}
	}
	x.op("drop %d, child %d", n, child)
	x.update(func(tx transcript.Tx) error { return tx.DropTexts(example(int(n)).ID) })
	delete(x.items, n)
	list, err := x.db.Unindexed(x.t.Context(), 1000)
	if err != nil {
		x.t.Fatal(err)
	}
	for _, u := range list {
		if x.r.IntN(3) == 0 {
			continue
		}
		texts := x.say(u.N, 6)
		x.items[u.N] = texts
		x.op("again %d", u.N)
		x.index(transcript.SearchTexts{Exchanges: []transcript.Unindexed{u}, Texts: texts})
	}
}

func (x *plainIndex) tidy() {
	steps := 1 + x.r.IntN(30)
	x.op("tidy %d", steps)
	for range steps {
		more := false
		x.update(func(tx transcript.Tx) (err error) {
			more, err = tx.TidyTexts()
			return err
		})
		if !more {
			return
		}
	}
}

func (x *plainIndex) query() (q transcript.SearchQuery) {
	s := []rune(x.texts[x.r.IntN(len(x.texts))])
	n := min(3+x.r.IntN(1+x.r.IntN(60)), len(s))
	if x.r.IntN(20) == 0 {
		n = min(3000, len(s))
	}
	from := x.r.IntN(len(s) - n + 1)
	q.Text = string(s[from : from+n])
	q.Words = x.r.IntN(3) == 0
	if x.r.IntN(6) == 0 {
		q.Text = fmt.Sprintf("number%d", x.r.IntN(20))
	}
	if x.r.IntN(5) == 0 {
		q.Text = ""
	}
	switch x.r.IntN(6) {
	case 0:
		q.Tool = "bash"
	case 1:
		q.Errors = true
	}
	return q
}

// look holds a search against looking at everything.
func (x *plainIndex) look() {
	q := x.query()
	got, order := map[string]int{}, []int64{}
	for it, err := range x.db.Search(x.t.Context(), q) {
		if err == transcript.ErrNoIndex && utf8.RuneCountInString(q.Text) < 40 {
			return
		}
		if err != nil {
			x.t.Fatalf("%q: %v", q.Text, err)
		}
		got[fmt.Sprint(it.Exchange, it.At)]++
		order = append(order, it.Exchange)
	}
	m := transcript.NewMatcher(q)
	settings := map[transcript.Key][]string{}
	for n, list := range x.items {
		for i := range list {
			for k := range list[i].Items {
				it := &list[i].Items[k]
				if q.Errors && !it.IsError || q.Tool != "" && it.Tool != q.Tool {
					continue
				}
				if _, ok := m.Find([]transcript.Field{{Name: "text", Text: it.Text}}); !ok {
					continue
				}
				place := fmt.Sprint(n, it.At)
				if list[i].Same != (transcript.Key{}) {
					settings[list[i].Same] = append(settings[list[i].Same], place)
				} else if got[place] == 0 {
					for _, op := range x.ops[max(0, len(x.ops)-40):] {
						x.t.Log(op)
					}
					x.t.Fatalf("%q (words %v) is not found at %s: %q", q.Text, q.Words, place, it.Text)
				}
			}
		}
	}
	for key, places := range settings {
		if !slices.ContainsFunc(places, func(p string) bool { return got[p] > 0 }) {
			x.t.Fatalf("%q (words %v): setting %v is not found at any of %v", q.Text, q.Words, key, places)
		}
	}
	for place, n := range got {
		if n > 1 {
			x.t.Logf("%q: %s is told %d times", q.Text, place, n)
		}
	}
}

// Whatever is put, dropped, put again and joined in whatever order, a search
// finds all that looking at everything finds.
func TestSearch_FindsWhatAPlainScanFinds(t *testing.T) {
	rounds, puts, seed := 1, 60, uint64(1)
	if s := os.Getenv("RETAKE_SEARCH_ROUNDS"); s != "" {
		rounds, _ = strconv.Atoi(s)
		puts = 250
		seed = uint64(os.Getpid())
	}
	for round := range rounds {
		t.Run(fmt.Sprintf("%d.%d", seed, round), func(t *testing.T) {
			db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			x := &plainIndex{t: t, db: db, r: rand.New(rand.NewPCG(seed, uint64(round))), items: map[int64][]transcript.SearchText{}, parent: map[int64]int64{}}
			for range puts {
				x.put()
				if x.r.IntN(5) == 0 {
					x.drop()
				}
				if x.r.IntN(6) == 0 {
					x.tidy()
				}
				if x.r.IntN(5) == 0 {
					for range 5 {
						x.look()
					}
				}
			}
			for range puts / 4 {
				x.look()
				x.tidy()
			}
		})
	}
}
