package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/web"
)

func pairsOf(p page) []page { return p.class("pair") }

// Where other results of a call came is said in a line, however many there are.
func TestTranscript_OtherResultsAreLinked(t *testing.T) {
	many := []string{"x4", "x5", "x6", "x7", "x8"}
	for _, c := range []struct {
		refs   []string
		line   string
		folded int
	}{{nil, "", 0}, {many[:1], "Another result for this call came in x4.", 0}, {many[:3], "Other results for this call came in x4, x5, x6.", 0}, {many, "5 other results for this call came", 1}} {
		tr := transcriptOf("s")
		for i := range tr.Entries {
			if tr.Entries[i].AlsoIn != nil {
				tr.Entries[i].AlsoIn = c.refs
			}
		}
		text, err := web.RenderTranscript(tr, false)
		if err != nil {
			t.Fatal(err)
		}
		p := parse(t, string(text))
		if got := len(p.all(func(n *node) bool { return n.Data == "details" && attr(n, "class") == "why" })); got != c.folded || c.line != "" && !strings.Contains(p.text(), c.line) {
			t.Errorf("%v: %d folded lists, want %d and %q", c.refs, got, c.folded, c.line)
		}
		if links := p.all(func(n *node) bool { return n.Data == "a" && attr(n, "href") == "/x/4" }); len(links) != min(len(c.refs), 1) {
			t.Errorf("%v: %d links to the first", c.refs, len(links))
		}
	}
}

func TestTranscript_CallBesideItsResult(t *testing.T) {
	p := open(t, sampleViewer(t), "/x/2")
	batch := p.one(t, "batch", "many")
	wantText(t, batch, "2 calls at once")
	pairs := pairsOf(batch)
	if len(pairs) != 2 {
		t.Fatalf("%d pairs in the batch, want 2", len(pairs))
	}
	wantText(t, pairs[0].one(t, "half", "call"), "read_file", "path", "parser.go", "x1", "1/2")
	wantText(t, pairs[0].one(t, "half", "result"), "✓ result", "package parser", "new")
	wantText(t, pairs[1].one(t, "half", "call"), "run_tests", "./...")
	wantText(t, pairs[1].one(t, "half", "result"), "✗ error", "--- FAIL: TestComma")
	if got := pairs[0].one(t, "link").text(); got != "57.1 s" {
		t.Errorf("latency %q, want that from the answer to the request that brought the result", got)
	}
}

func TestTranscript_KeepsDigits(t *testing.T) {
	wantText(t, open(t, sampleViewer(t), "/x/2"), "2512292042121000001")
	wantText(t, open(t, sampleViewer(t), "/x/4"), "107505301260286111")
}

func TestTranscript_MarksWhatIsNew(t *testing.T) {
	p := open(t, sampleViewer(t), "/x/2")
	wantText(t, p.id("history"), "resent, known from x1", userText)
	wantText(t, p.id("new"), "first sent in x2", "read_file")
	if strings.Contains(p.id("new").text(), userText) {
		t.Error("the resent user text stands under new")
	}
	wantText(t, p.id("answer"), "tool_use", "The comma is consumed twice.", "edit_file")
	first := open(t, sampleViewer(t), "/x/1")
	wantText(t, first.id("new"), "request", userText)
	if len(first.class("tag", "new")) > 0 {
		t.Error("marks of what is new in the first exchange of a history")
	}
}

func TestTranscript_ReasoningAndSystemAndTools(t *testing.T) {
	p := open(t, sampleViewer(t), "/x/2")
	wantText(t, p.id("answer").one(t, "item", "reasoning"), "next() is called once in the loop head")
	wantText(t, p.id("setup"), "You are a coding agent.")
	wantText(t, p.one(t, "tools"), "3 tools", "run_tests", "Replace text in a file.")
}

func TestTranscript_SaysWhyAPairIsBroken(t *testing.T) {
	h := sampleViewer(t)
	for _, c := range []struct{ target, state, why string }{
		{"/x/2", "unanswered", "x3 goes on without a result for this call."},
		{"/x/3", "unanswered", "The request holds no result for this call."},
		{"/x/4", "orphan", `No call with the id "call_gone" stands before this result.`},
		{"/x/4", "duplicate", "A second result for a call that has one already."},
		{"/x/7", "waiting", "No later request has brought a result yet."},
	} {
		found := open(t, h, c.target).class("pair", c.state)
		if len(found) != 1 {
			t.Errorf("%s: %d pairs are %s, want 1", c.target, len(found), c.state)
			continue
		}
		wantText(t, found[0], c.why)
	}
	wantText(t, open(t, h, "/x/3").one(t, "pair", "unanswered").one(t, "source"), "x2")
	p := open(t, h, "/x/4")
	wantText(t, p.one(t, "troubles"), "1 result without a call", "1 doubled result")
	wantText(t, p, "not valid JSON")
}

func TestTranscript_JoinedByPosition(t *testing.T) {
	pair := open(t, sampleViewer(t), "/x/9").one(t, "pair")
	wantText(t, pair, "look_up", "found", "joined by position", "no id")
}

func TestTranscript_LinksToItsNeighbours(t *testing.T) {
	h := sampleViewer(t)
	p := open(t, h, "/x/2")
	wantText(t, p.one(t, "links"), "continues x1", "continued by x3", "replayed as x10")
	take := open(t, h, "/x/10").one(t, "take")
	wantText(t, take, "Replay of x2 with 1 result changed", "toolu_run", "before", "--- FAIL: TestComma")
	wantText(t, open(t, h, "/x/5").one(t, "head", "failed"), "rate_limit_error", "3 requests per minute", "429")
	wantText(t, open(t, h, "/x/6"), "This is not an API that Retake reads")
	wantText(t, open(t, h, "/x/8").one(t, "facts"), "streamed, 7 events", "first token 800 ms", "24 reasoning")
}

func TestTranscript_FoldsLongValues(t *testing.T) {
	p := open(t, sampleViewer(t), "/x/2")
	folds := pairsOf(p)[0].one(t, "half", "result").class("fold")
	if len(folds) != 1 {
		t.Fatalf("%d folds in the long result, want 1", len(folds))
	}
	wantText(t, folds[0].one(t, "more"), "kB")
	wantText(t, folds[0].one(t, "body"), "func (p *parser) rule59()")
}

func TestTranscript_References(t *testing.T) {
	h := sampleViewer(t)
	id := sampled()[1].ID
	for _, ref := range []string{"2", "x2", id, id[20:]} {
		wantText(t, open(t, h, "/x/"+ref).one(t, "steps"), "x2")
	}
	wantText(t, open(t, h, "/x/last").one(t, "steps"), "x10")
	for ref, why := range map[string]string{
		"x99": "There is no exchange x99 here.", "99": "There is no exchange x99 here.", "0196f0aa": "Several exchanges", "ffffffff": "There is no exchange with ffffffff in its id here.",
		"hello": "no reference", "-1": "no reference", "x0": "no reference", "99999999999999999999": "There is no exchange x99999999999999999999 here.", "%00": "no reference",
	} {
		w := ask(h, "GET", "/x/"+ref)
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), why) {
			t.Errorf("%s: status %d, want 404 and %q in: %s", ref, w.Code, why, parse(t, w.Body.String()).text())
		}
	}
}

// Each item has an address of its own, whatever its call id.
func TestPages_IDsAreUniqueAndLinksLead(t *testing.T) {
	h := sampleViewer(t)
	targets := []string{"/"}
	for n := range sampled() {
		ref := "/x/" + string(rune('1'+n))
		if n == 9 {
			ref = "/x/10"
		}
		targets = append(targets, ref, ref+"/wire")
	}
	for _, target := range targets {
		p := open(t, h, target)
		var ids []string
		for _, e := range p.all(func(n *node) bool { return attr(n, "id") != "" }) {
			if slices.Contains(ids, e.attr("id")) {
				t.Errorf("%s: the id %s is there twice", target, e.attr("id"))
			}
			ids = append(ids, e.attr("id"))
		}
		for _, a := range p.all(func(n *node) bool { return n.Data == "a" }) {
			checkLink(t, h, target, a.attr("href"), ids)
		}
	}
}

func checkLink(t *testing.T, h http.Handler, target, href string, ids []string) {
	t.Helper()
	switch {
	case strings.HasPrefix(href, "#"):
		if !slices.Contains(ids, href[1:]) {
			t.Errorf("%s: %s leads nowhere", target, href)
		}
	case strings.HasPrefix(href, "/"):
		w := ask(h, "GET", href)
		if w.Code == http.StatusFound {
			to, _, _ := strings.Cut(w.Header().Get("Location"), "#")
			w = ask(h, "GET", to)
		}
		if w.Code != http.StatusOK {
			t.Errorf("%s: %s gives status %d", target, href, w.Code)
		}
	default:
		t.Errorf("%s: a link to %q", target, href)
	}
}
