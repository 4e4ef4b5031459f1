package web_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// caseFile returns a file of ../shared/cases/inputs.
func caseFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "shared", "cases", "inputs", name))
	if err != nil {
		t.Skip("../shared is not there: ", err)
	}
	return content
}

// chatRun makes n exchanges that each resend the whole history.
func chatRun(n, size int) []*transcript.Capture {
	var history, list = []string{`{"role":"user","content":"start"}`}, []*transcript.Capture{}
	for i := range n {
		call := fmt.Sprintf(`{"id":"call_%d","type":"function","function":{"name":"read","arguments":"{\"n\": %d}"}}`, i, i)
		message := `{"role":"assistant","content":null,"tool_calls":[` + call + `]}`
		list = append(list, capture(i+1, "/v1/chat/completions", 200, `{"model":"test-gpt","messages":[`+strings.Join(history, ",")+`]}`,
			fmt.Sprintf(`{"id":"c%d","object":"chat.completion","model":"test-gpt","choices":[{"index":0,"message":%s,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":%d,"completion_tokens":20,"total_tokens":%d}}`, i, message, 400*(i+1), 400*(i+1)+20)))
		history = append(history, message, fmt.Sprintf(`{"role":"tool","tool_call_id":"call_%d","content":"%s line %d"}`, i, strings.Repeat("x", size), i))
	}
	return list
}

// D-UI-03: long runs open quickly, in pages of bounded size, and nothing is left
// out without a link to it.
func TestCase_LongRunsOpenQuickly(t *testing.T) {
	for _, c := range []struct{ steps, size int }{{280, 1500}, {1000, 60}} {
		db := openStore(t, nil)
		var committer ingest.Committer
		for part := range slices.Chunk(chatRun(c.steps, c.size), 20) {
			if _, err := committer.Commit(t.Context(), db, part); err != nil {
				t.Fatal(err)
			}
		}
		h := web.New(options(db))
		timed := func(target string, most int) page {
			began := time.Now()
			w := ask(h, "GET", target)
			took := time.Since(began)
			if w.Code != http.StatusOK || w.Body.Len() > most {
				t.Errorf("%d steps: %s: status %d, %d bytes", c.steps, target, w.Code, w.Body.Len())
			}
			if took > 4*time.Second { // the floors are the benchmarks' to hold
				t.Errorf("%d steps: %s took %v", c.steps, target, took)
			}
			t.Logf("%d steps: %s: %d kB in %v", c.steps, target, w.Body.Len()/1000, took)
			return parse(t, w.Body.String())
		}
		timed("/", 1_000_000)
		timed("/exchanges", 1_000_000)
		states := map[string]int{}
		for target := "/r/1"; target != ""; {
			p := timed(target, 2_000_000)
			for _, pair := range p.class("pair") {
				states[pair.attr("class")]++
			}
			target = ""
			for _, left := range p.class("left") {
				for _, a := range left.all(func(n *node) bool { return n.Data == "a" && strings.Contains(left.text(), "more step") }) {
					target = a.attr("href")
				}
			}
		}
		if states["pair ok"] != c.steps-1 || states["pair waiting"]+states["pair unanswered"] != 1 {
			t.Errorf("%d steps: pairs are %v", c.steps, states)
		}
		for _, n := range []int{1, c.steps / 2, c.steps} {
			p := timed(fmt.Sprintf("/x/%d", n), 2_000_000)
			if n == c.steps {
				wantText(t, p, "earlier entries")
			}
		}
	}
}

// numbered is a call with numbers that a double does not hold.
func numbered(n int, id string) *transcript.Capture {
	arguments := `{\"id\":` + id + `,\"ratio\":1.10,\"huge\":1e400,\"neg\":-0,\"id2\":107505301260286111}`
	return capture(n, "/v1/chat/completions", 200, fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"Look order %d up"}]}`, n),
		`{"id":"c`+id+`","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_`+id+`","type":"function","function":{"name":"order","arguments":"`+arguments+`"}}]},"finish_reason":"tool_calls"}]}`)
}

// D-UI-02: numbers are shown and compared as they were sent.
func TestCase_NumbersAreShownAsSent(t *testing.T) {
	h := web.New(options(openStore(t, []*transcript.Capture{numbered(1, "2512292042121000001"), numbered(2, "2512292042121000002")})))
	run := open(t, h, "/r/1")
	for _, p := range []page{run, open(t, h, "/x/1"), open(t, h, run.one(t, "pair").attr("data-details")), open(t, h, "/x/1/wire"), open(t, h, "/r/1/calls")} {
		wantText(t, p, "2512292042121000001", "1.10", "1e400", "-0", "107505301260286111")
	}
	wantText(t, open(t, h, "/compare?refs=x1+x2"), "2512292042121000001", "2512292042121000002")
}

// searchDocs are the documents of D-UI-01 as results of tools, with the id of each by
// the reference of its exchange.
func searchDocs(t *testing.T) ([]*transcript.Capture, map[string]string) {
	t.Helper()
	var docs []*transcript.Capture
	lines := bufio.NewScanner(bytes.NewReader(caseFile(t, "D-UI-01/docs.jsonl")))
	ids := map[string]string{}
	for lines.Scan() {
		var d struct{ ID, Text string }
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		n := len(docs) + 1
		ids[fmt.Sprintf("x%d", n)] = d.ID
		docs = append(docs, capture(n, "/v1/messages", 200, messagesBody(`{"role":"user","content":"read `+d.ID+`"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_`+d.ID+`","name":"read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_`+d.ID+`","content":`+quote(d.Text)+`}]}`),
			messagesAnswer("msg_"+d.ID, `{"type":"text","text":"Read."}`, "end_turn")))
	}
	return docs, ids
}

// D-UI-01: the search box takes every character literally.
func TestCase_SearchTakesEveryCharacter(t *testing.T) {
	docs, ids := searchDocs(t)
	var expect struct{ Hits map[string][]string }
	if err := json.Unmarshal(caseFile(t, "D-UI-01/expect.json"), &expect); err != nil || len(expect.Hits) == 0 || len(docs) == 0 {
		t.Fatalf("%d documents, %d queries, %v", len(docs), len(expect.Hits), err)
	}
	h := web.New(options(openStore(t, docs)))
	for query, want := range expect.Hits {
		p := open(t, h, "/search?q="+url.QueryEscape(query))
		var got []string
		for _, hit := range p.class("hit") {
			ref, _, _ := strings.Cut(strings.TrimPrefix(hit.attr("href"), "/x/"), "?")
			ref, _, _ = strings.Cut(ref, "#")
			if id := ids["x"+ref]; !slices.Contains(got, id) && strings.Contains(hit.text(), "result") {
				got = append(got, id)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%q finds %v, want %v", query, got, want)
		}
	}
	open(t, h, "/search?q=")
}

// pictured is an exchange with an image in its request.
func pictured(base64 string) *transcript.Capture {
	messages := `{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + base64 + `"}}]}`
	answer := `{"id":"c","object":"chat.completion","model":"test-gpt","choices":[{"index":0,"message":{"role":"assistant","content":"turn 0"},"finish_reason":"stop"}]}`
	return capture(1, "/v1/chat/completions", 200, `{"model":"test-gpt","messages":[`+messages+`]}`, answer)
}

// D-STO-02: an image is shown, never its base64.
func TestCase_ImagesAreShownAndNotSpelledOut(t *testing.T) {
	image := strings.TrimSpace(string(caseFile(t, "D-STO-02/image.b64")))
	h := web.New(options(openStore(t, []*transcript.Capture{pictured(image)})))
	run := open(t, h, "/r/1")
	for _, p := range []page{run, open(t, h, "/x/1")} {
		if strings.Contains(p.text(), image[:40]) {
			t.Error("base64 is shown as text")
		}
		pictures := p.all(func(n *node) bool { return n.Data == "img" })
		if len(pictures) != 1 || !strings.Contains(pictures[0].attr("alt"), "kB") {
			t.Errorf("%d pictures", len(pictures))
		}
	}
}
