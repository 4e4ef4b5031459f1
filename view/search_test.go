package view_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// noIndex is a store as a build without FTS5 has it.
type noIndex struct{ transcript.Reader }

func (noIndex) SearchState(context.Context) (transcript.SearchState, error) {
	return transcript.SearchState{}, nil
}

// index indexes all, and says whether this build can.
func index(t testing.TB, db *store.DB) bool {
	t.Helper()
	_, err := ingest.Index(t.Context(), db)
	if err != nil && !errors.Is(err, transcript.ErrNoIndex) {
		t.Fatal(err)
	}
	return err == nil
}

func find(t testing.TB, r transcript.Reader, s view.Search) *view.Found {
	t.Helper()
	found, err := view.Find(t.Context(), r, s)
	if err != nil {
		t.Fatalf("search %+v: %v", s, err)
	}
	return found
}

func text(s string) view.Search { return view.Search{SearchQuery: transcript.SearchQuery{Text: s}} }

// places tells where hits are.
func places(hits []view.Hit) []string {
	list := []string{}
	for _, h := range hits {
		list = append(list, fmt.Sprintf("x%d %s %s", h.N, h.Body, h.At))
	}
	return list
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func TestFind_TakesEveryCharacterLiterally(t *testing.T) { // D-UI-01
	var expect struct {
		Hits map[string][]string `json:"hits"`
	}
	raw, err := os.ReadFile("testdata/search/expect.json")
	if err == nil {
		err = json.Unmarshal(raw, &expect)
	}
	if err != nil || len(expect.Hits) == 0 {
		t.Fatalf("%d queries (%v)", len(expect.Hits), err)
	}
	raw, err = os.ReadFile("testdata/search/docs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var calls, answers []string
	for sc := bufio.NewScanner(bytes.NewReader(raw)); sc.Scan(); {
		var doc struct{ ID, Text string }
		if err := json.Unmarshal(sc.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		calls = append(calls, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"f","input":{}}`, doc.ID))
		answers = append(answers, doc.ID+"="+doc.Text)
	}
	db, _ := record(t, message{messages: ask + `,{"role":"assistant","content":[` + strings.Join(calls, ",") + `]},` + results(answers...), answer: done})
	readers := map[string]transcript.Reader{"scan": noIndex{db}}
	if index(t, db) {
		readers["index"] = db
	}
	for name, r := range readers {
		for query, want := range expect.Hits {
			q, err := view.ParseQuery(query, time.Now())
			if err != nil {
				t.Errorf("%q: %v", query, err)
			}
			got := []string{}
			for _, h := range find(t, r, view.Search{SearchQuery: q}).Hits {
				if h.Snippet.Match != query && !strings.EqualFold(h.Snippet.Match, query) {
					t.Errorf("%s: the match of %q is %q", name, query, h.Snippet.Match)
				}
				if h.Kind == transcript.ToolResult {
					got = append(got, h.CallID)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: hits of %q differ (-want +got):\n%s", name, query, diff)
			}
		}
		if n := len(find(t, r, text("")).Hits); n == 0 {
			t.Errorf("%s: an empty query finds nothing", name)
		}
	}
}

// agent makes a run of so many steps that sends its whole history at each, with
// a cache mark that moves.
func agent(steps int, said func(step int) string) []message {
	var history []string
	var all []message
	for i := range steps {
		call := fmt.Sprintf(`{"type":"tool_use","id":"toolu_%04d","name":"f","input":{"step":"argument%04d"}}`, i, i)
		think := fmt.Sprintf(`{"type":"thinking","thinking":"thought%04d","signature":"s"}`, i)
		if i == 0 {
			history = append(history, `{"role":"user","content":`+quoted(said(0))+`}`)
		} else {
			history = append(history, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%04d","content":%s}]}`, i-1, quoted(said(i))))
		}
		sent := slices.Clone(history)
		if i > 0 {
			sent[i*2] = strings.Replace(sent[i*2], `"type":"tool_result",`, `"type":"tool_result","cache_control":{"type":"ephemeral"},`, 1)
		}
		all = append(all, message{messages: strings.Join(sent, ","), answer: think + "," + call})
		history = append(history, `{"role":"assistant","content":[`+think+","+call+`]}`)
	}
	return all
}

func TestFind_OnceThoughItIsSentAgain(t *testing.T) {
	const steps = 50
	db, _ := record(t, agent(steps, func(i int) string { return fmt.Sprintf("result%04d of the needle", i) })...)
	readers := map[string]transcript.Reader{"scan": noIndex{db}, "not indexed yet": db}
	check := func() {
		for name, r := range readers {
			for _, q := range []string{"result%04d", "argument%04d", "thought%04d"} {
				for _, i := range []int{0, 1, steps / 2, steps - 1} {
					q := fmt.Sprintf(q, i)
					if got := places(find(t, r, text(q)).Hits); len(got) != 1 || !strings.HasPrefix(got[0], fmt.Sprintf("x%d ", i+1)) {
						t.Errorf("%s: %q is found at %v, want once, in x%d", name, q, got, i+1)
					}
				}
			}
			hits := find(t, r, text("NEEDLE")).Hits
			if len(hits) != steps || !slices.IsSortedFunc(hits, func(a, b view.Hit) int { return int(b.N - a.N) }) {
				t.Errorf("%s: %d hits, want %d, newest first", name, len(hits), steps)
			}
			for _, q := range []string{"Help.", "input_schema"} {
				if got := places(find(t, r, text(q)).Hits); len(got) != 1 {
					t.Errorf("%s: setting %q is found at %v, want once", name, q, got)
				}
			}
		}
	}
	check()
	if index(t, db) {
		readers = map[string]transcript.Reader{"index": db}
		check()
	}
}

func TestFind_WhatIsNotIndexedYet(t *testing.T) {
	db, _ := record(t, agent(10, func(i int) string { return fmt.Sprintf("first%04d", i) })...)
	if !index(t, db) {
		t.Skip("this build has no search index")
	}
	if found := find(t, db, text("first0007")); found.Unindexed != 0 || len(found.Hits) != 1 {
		t.Errorf("%d hits, %d not indexed; want 1, 0", len(found.Hits), found.Unindexed)
	}
	more := agent(12, func(i int) string { return fmt.Sprintf("first%04d", i) })[10:]
	var captures []*transcript.Capture
	for i, m := range more {
		at := time.Unix(int64(100_000+i), 0)
		captures = append(captures, &transcript.Capture{ID: fmt.Sprintf("0190a000-0000-7000-9000-%012d", i+1), StartedAt: at, EndedAt: at,
			Method: "POST", URL: "https://api.example.com/v1/messages", Status: 200, Outcome: transcript.OK,
			Request:  body(`{"model":"m","max_tokens":9,"messages":[` + m.messages + `],"system":"Help.","tools":[{"name":"f","input_schema":{}}]}`),
			Response: body(`{"id":"msg_x","type":"message","role":"assistant","model":"m","content":[` + m.answer + `],"stop_reason":"end_turn"}`)})
	}
	if _, err := ingest.Commit(t.Context(), db, captures); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{"first0011": "x12 request /messages/22/content/0", "first0003": "x4 request /messages/6/content/0", "Help.": "x1 request /system"} {
		found := find(t, db, text(query))
		if diff := cmp.Diff([]string{want}, places(found.Hits)); diff != "" && query != "Help." || found.Unindexed != 2 {
			t.Errorf("%q, %d not indexed, want 2 (-want +got):\n%s", query, found.Unindexed, diff)
		}
	}
	index(t, db)
	if found := find(t, db, text("first0011")); found.Unindexed != 0 || len(found.Hits) != 1 {
		t.Errorf("indexed: %d hits, %d not indexed; want 1, 0", len(found.Hits), found.Unindexed)
	}
}

// scripts holds text that is hard to search.
var scripts = []string{
	"The quick brown FOX jumps over the lazy dog — twice; don't!", "Straße ÄÖÜ äöü ẞ ſ K (Kelvin) Å İstanbul ıI", "ΑΒΓ αβγς Σίσυφος", "Привет, МИР",
	"数据库连接失败：请检查网络设置。", "データベースに接続できません", "데이터베이스 연결 실패", "e\u0301 cafe\u0301 n\u0303o", "👩‍👩‍👧‍👦 👍🏽 🎉🎉🎉 ok", "שלום עולם مرحبا",
	"a\x00b\x01c tab\there\nnew line\r\n", "{\"path\": \"src/main.go\", \"n\": 1.50}", "x = a[i] && b*c || !d; // ---> ***", "C:\\dir\\file.txt %20 100% _x_ '''\"\"\"", "\ufffd bad",
	strings.Repeat("long ", 8000) + "tail-of-a-long-text", "日本" + strings.Repeat("語", 9000) + "終",
}

func TestFind_IndexAndScanAgree(t *testing.T) {
	db, _ := record(t, agent(len(scripts), func(i int) string { return scripts[i] })...)
	if !index(t, db) {
		t.Skip("this build has no search index")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		s := []rune(scripts[r.IntN(len(scripts))])
		n := min(3+r.IntN(1+r.IntN(20)), len(s))
		if i%50 == 0 {
			n = min(400, len(s)) // longer than what the index is asked for
		}
		start := r.IntN(len(s) - n + 1)
		q := string(s[start : start+n])
		switch i % 3 {
		case 1:
			q = strings.ToUpper(q)
		case 2:
			q = strings.ToLower(q)
		}
		search := text(q)
		search.Words = i%5 == 4
		got, want := find(t, db, search), find(t, noIndex{db}, search)
		if diff := cmp.Diff(places(want.Hits), places(got.Hits)); diff != "" {
			t.Fatalf("query %q, words %v (-scan +index):\n%s", q, search.Words, diff)
		}
		if i%3 == 0 && !search.Words && len(got.Hits) == 0 {
			t.Fatalf("query %q, out of a text, finds nothing", q)
		}
		if got.Scan != "" && !search.Words {
			t.Fatalf("query %q was not answered by the index", q)
		}
	}
}

func TestFind_LongTexts(t *testing.T) {
	line := strings.Repeat("0123456789 abcdefgh ", 150_000) // 3 MB
	at := 1 << 20
	line = line[:at] + "the-needle-in-it" + line[at:]
	image := make([]byte, 0, 1<<20)
	for r := rand.New(rand.NewPCG(3, 4)); len(image) < cap(image); {
		image = append(image, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[r.IntN(64)])
	}
	db, _ := record(t, agent(3, func(i int) string {
		return []string{"go", line, "data:image/png;base64," + string(image) + " seen"}[i]
	})...)
	readers := []transcript.Reader{noIndex{db}}
	if index(t, db) {
		readers = append(readers, db)
	}
	for _, r := range readers {
		hits := find(t, r, text("NEEDLE-in")).Hits
		if len(hits) != 1 || hits[0].Offset != at+4 || hits[0].Snippet.Match != "needle-in" {
			t.Fatalf("hits %+v, want one at %d", hits, at+4)
		}
		if n := len(find(t, r, text("defgh 0123")).Hits); n != 1 {
			t.Errorf("a text in many parts of an item is found %d times, want once", n)
		}
		if n := len(find(t, r, text(string(image[9000:9040]))).Hits); n != 0 {
			t.Errorf("base64 is found")
		}
		if n := len(find(t, r, text(string(image[len(image)-8:])+" seen")).Hits); n != 1 {
			t.Errorf("what follows base64 is not found")
		}
	}
}

// Words are found together however far apart they are in an item.
func TestFind_WordsInDifferentPartsOfALongItem(t *testing.T) {
	filler := func(word string) string { return strings.Repeat(word+" and so on, ", 8000) } // 100 KB and more
	long := "alphaword " + filler("some") + " omegaword of it " + filler("more") + " Übermut"
	db, _ := record(t, agent(4, func(i int) string {
		return []string{"alphaword", long, "omegaword alphawords " + filler("other"), "Übermut"}[i]
	})...)
	readers := map[string]transcript.Reader{"scan": noIndex{db}}
	if index(t, db) {
		readers["index"] = db
	}
	for name, r := range readers {
		for query, want := range map[string]int{"alphaword omegaword": 1, "omegaword ALPHAWORD": 1, "alphaword of": 1, "übermut alphaword omegaword": 1, "alphaword": 2, "omegaword": 2,
			"alphaword omega": 0, "alphaword nowhere": 0, "alphawords omegaword other": 1} {
			s := text(query)
			s.Words = true
			if got := places(find(t, r, s).Hits); len(got) != want {
				t.Errorf("%s: %q is found at %v, want %d", name, query, got, want)
			}
		}
		if got := places(find(t, r, text("and so on")).Hits); len(got) != 2 {
			t.Errorf("%s: what is in each part of two items is found at %v", name, got)
		}
		if got := places(find(t, r, view.Search{}).Hits); len(got) != len(places(find(t, noIndex{db}, view.Search{}).Hits)) {
			t.Errorf("%s: all items are %v", name, got)
		}
	}
}

func TestFind_BestFirst(t *testing.T) {
	said := []string{"the parser is what it is: a parser", "parsers", "nothing", "unparseredly " + strings.Repeat("x ", 3000)}
	db, _ := record(t, agent(len(said), func(i int) string { return said[i] })...)
	index(t, db)
	s := text("parser")
	if got := find(t, db, s).Hits; len(got) != 3 || got[0].N != 4 {
		t.Errorf("newest first: %v", places(got))
	}
	s.Best = true
	found := find(t, db, s)
	if got := found.Hits; len(got) != 3 || got[0].N != 1 || got[1].N != 2 || found.Compared != 3 {
		t.Errorf("best first: %v, %d compared", places(got), found.Compared)
	}
	s.Limit = 1
	if found := find(t, db, s); len(found.Hits) != 1 || found.Hits[0].N != 1 || !found.More {
		t.Errorf("the best one: %v, more %v", places(found.Hits), found.More)
	}
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{"", " ", `"`, `""`, `'`, `"a" OR b`, "NEAR(a b)", "a*", "^a", "-a", "a:b", "terms:x", "{a b}:c", "\x00", "a\x00bc", "\xff\xfe\xfd", "(", "AND", "!616263", "...", "=word",
		"𝕬𝖇𝖈", "\u202eabc", strings.Repeat("a", 5000), "% _ \\ ; --", "é\u0301"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	db := fuzzed(f)
	f.Fuzz(func(t *testing.T, query string, words bool) {
		if len(query) > 10_000 {
			t.Skip()
		}
		s := view.Search{SearchQuery: transcript.SearchQuery{Text: query, Words: words}}
		got, err := view.Find(t.Context(), db, s)
		if err != nil {
			t.Fatalf("%q: %v", query, err)
		}
		want, err := view.Find(t.Context(), noIndex{db}, s)
		if err != nil {
			t.Fatalf("%q: %v", query, err)
		}
		if diff := cmp.Diff(places(want.Hits), places(got.Hits)); diff != "" {
			t.Fatalf("%q (-scan +index):\n%s", query, diff)
		}
		for _, h := range got.Hits {
			if !utf8.ValidString(h.Snippet.Before + h.Snippet.Match + h.Snippet.After) {
				t.Fatalf("%q: the snippet is cut inside a character: %q", query, h.Snippet)
			}
		}
		_, _ = view.ParseQuery(query, time.Time{})
	})
}

func fuzzed(f *testing.F) *store.DB {
	db, err := store.Open(f.TempDir()+"/t.db", store.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	for i, m := range agent(len(scripts), func(i int) string { return scripts[i] }) {
		at := time.Unix(int64(i), 0)
		_, err := ingest.Commit(f.Context(), db, []*transcript.Capture{{ID: fmt.Sprintf("0190a000-0000-7000-9000-%012d", i+1), StartedAt: at, EndedAt: at,
			Method: "POST", URL: "https://api.example.com/v1/messages", Status: 200, Outcome: transcript.OK,
			Request: body(`{"model":"m","messages":[` + m.messages + `]}`), Response: body(`{"type":"message","role":"assistant","content":[` + m.answer + `]}`)}})
		if err != nil {
			f.Fatal(err)
		}
	}
	index(f, db)
	return db
}

func TestParseQuery(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for query, want := range map[string]transcript.SearchQuery{
		"":                           {},
		"  two  spaces ":             {Text: "  two  spaces "},
		"tool:bash  exit 1":          {Text: "exit 1", Tool: "bash"},
		"run:r1 exit":                {Text: "exit", Run: "r1"},
		"exit tool:bash 1":           {Text: "exit 1", Tool: "bash"},
		"exit 1 is:error":            {Text: "exit 1", Errors: true},
		"status:4xx model:gpt":       {Status: [2]int{400, 499}, Model: "gpt"},
		"status:429":                 {Status: [2]int{429, 429}},
		"after:2026-03-01":           {After: day},
		"before:2h after:9d":         {Before: now.Add(-2 * time.Hour), After: now.AddDate(0, 0, -9)},
		"after:2026-03-01T00:00:00Z": {After: day},
		"outcome:stream_error x":     {Text: "x", Outcome: transcript.StreamError},
		"http://x std::map c:\\x a1:2 Error:x error: x src/main.go:42 :x": {Text: "http://x std::map c:\\x a1:2 Error:x error: x src/main.go:42 :x"},
	} {
		got, err := view.ParseQuery(query, now)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", query, err, diff)
		}
	}
	for _, query := range []string{"colour:red", "is:fine", "status:abc", "status:9xx", "outcome:x", "after:soon", "x before:-2h", "status:429 x status:500", "after:2h before:3h"} {
		if _, err := view.ParseQuery(query, now); !errors.Is(err, view.ErrBadQuery) {
			t.Errorf("%q: %v, want ErrBadQuery", query, err)
		}
	}
}

func TestFind_BestOfTheNewest(t *testing.T) {
	const said = view.BestOf + 20
	db, _ := record(t, agent(said, func(i int) string {
		if i == 0 {
			return "parser parser parser" // the best of all, but old
		}
		return fmt.Sprintf("unparsered %d", i)
	})...)
	index(t, db)
	s := text("parser")
	s.Best, s.Limit = true, 5
	if found := find(t, db, s); found.Compared != view.BestOf || !found.More || len(found.Hits) != 5 || found.Hits[0].N == 1 {
		t.Errorf("%d compared, more %v, first of %d is x%d", found.Compared, found.More, len(found.Hits), found.Hits[0].N)
	}
	if s.Limit = said; find(t, db, s).Hits[0].N != 1 {
		t.Error("more are asked for than are compared otherwise, but not compared")
	}
}
