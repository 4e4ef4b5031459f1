package ingest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
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

type wireBody []byte

func (b wireBody) Size() int64                  { return int64(len(b)) }
func (b wireBody) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }

// client makes the requests of one run, with what clients do to their history.
type client struct {
	random  *rand.Rand
	path    string
	system  string
	tools   []string
	history []string
	n       int
}

// next gives a request and its answer, and goes on with results.
func (c *client) next() (request, answer string) {
	c.n++
	switch c.random.IntN(12) {
	case 0:
		c.system = fmt.Sprintf("Be brief, %d.", c.n)
	case 1:
		c.tools = append(c.tools, fmt.Sprintf("tool%d", c.n))
	case 2:
		slices.Reverse(c.tools)
	case 3: // what was said before is said again
		c.history = append(c.history, c.history[c.random.IntN(len(c.history))])
	}
	request = c.request()
	calls := 1 + c.random.IntN(2)
	answer, said, results := c.answer(calls)
	c.history = append(append(c.history, said...), results...)
	return request, answer
}

func (c *client) request() string {
	tools := make([]string, len(c.tools))
	for i, name := range c.tools {
		tools[i] = fmt.Sprintf(map[string]string{
			"/v1/chat/completions": `{"type":"function","function":{"name":"%s","parameters":{}}}`,
			"/v1/messages":         `{"name":"%s","input_schema":{}}`,
			"/v1/responses":        `{"type":"function","name":"%s","parameters":{}}`}[c.path], name)
	}
	history := slices.Clone(c.history)
	if last := len(history) - 1; c.random.IntN(2) == 0 { // a mark that moves
		history[last] = strings.Replace(history[last], `{"role"`, `{"cache_control":{"type":"ephemeral"},"role"`, 1)
	}
	list := strings.Join(history, []string{",", ", "}[c.n/10%2])
	switch c.path {
	case "/v1/messages":
		return fmt.Sprintf(`{"model":"m","max_tokens":9,"messages":[%s],"system":[{"type":"text","text":"%s"}],"tools":[%s],"metadata":{"n":%d}}`, list, c.system, strings.Join(tools, ","), c.n)
	case "/v1/responses":
		return fmt.Sprintf(`{"model":"m","instructions":"%s","store":false,"tools":[%s],"input":[%s]}`, c.system, strings.Join(tools, ","), list)
	}
	return fmt.Sprintf(`{"messages":[{"role":"system","content":"%s"},%s],"model":"m","tools":[%s]}`, c.system, list, strings.Join(tools, ","))
}

func (c *client) answer(calls int) (answer string, said, results []string) {
	var list []string
	for i := range calls {
		id := fmt.Sprintf("call_%d_%d", c.n, i)
		switch c.path {
		case "/v1/messages":
			list = append(list, fmt.Sprintf(`{"type":"tool_use","id":"%s","name":"tool0","input":{}}`, id))
			results = append(results, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"result %s"}]}`, id, id))
		case "/v1/responses":
			list = append(list, fmt.Sprintf(`{"type":"reasoning","id":"rs_%s","summary":[{"type":"summary_text","text":"hm %s"}]},{"type":"function_call","id":"fc_%s","call_id":"%s","name":"tool0","arguments":"{}"}`, id, id, id, id))
			results = append(results, fmt.Sprintf(`{"type":"function_call_output","call_id":"%s","output":"result %s"}`, id, id))
		default:
			list = append(list, fmt.Sprintf(`{"id":"%s","type":"function","function":{"name":"tool0","arguments":"{}"}}`, id))
			results = append(results, fmt.Sprintf(`{"role":"tool","tool_call_id":"%s","content":"result %s"}`, id, id))
		}
	}
	all := strings.Join(list, ",")
	switch c.path {
	case "/v1/messages":
		said := fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"said %d"},%s]}`, c.n, all)
		return fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"said %d"},%s],"stop_reason":"tool_use"}`, c.n, c.n, all), []string{said}, results
	case "/v1/responses":
		return fmt.Sprintf(`{"id":"resp_%d","object":"response","status":"completed","model":"m","output":[%s]}`, c.n, all), list, results
	}
	message := fmt.Sprintf(`{"role":"assistant","content":"said %d","tool_calls":[%s]}`, c.n, all)
	return fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion","model":"m","choices":[{"index":0,"message":%s,"finish_reason":"tool_calls"}]}`, c.n, message), []string{message}, results
}

func TestTextReader_ReadsExcerptsLikeTheWhole(t *testing.T) {
	for _, path := range []string{"/v1/chat/completions", "/v1/messages", "/v1/responses"} {
		t.Run(strings.Trim(path, "/"), func(t *testing.T) {
			db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			excerpts, all := 0, 0
			for seed := range uint64(4) {
				c := &client{random: rand.New(rand.NewPCG(seed, 0)), path: path, system: "Be brief.", tools: []string{"tool0", "tool1"}}
				c.history = []string{fmt.Sprintf(`{"role":"user","content":"Begin run %d."}`, seed)}
				stored := commitClient(t, db, c, 40)
				x := &textReader{}
				for _, e := range stored {
					if before := x.sent[e.Link.Parent]; before != nil {
						got, err := x.excerpt(t.Context(), db, e, before)
						if err != nil {
							t.Fatal(err)
						}
						if all++; got != nil {
							excerpts++
						}
					}
					checkExcerpt(t, db, x, e)
				}
			}
			if all < 100 || excerpts*3 < all*2 {
				t.Errorf("%d of %d steps were read in part", excerpts, all)
			}
		})
	}
}

func commitClient(t *testing.T, db *store.DB, c *client, steps int) []*transcript.Exchange {
	t.Helper()
	var captures []*transcript.Capture
	for range steps {
		request, answer := c.next()
		at := time.Unix(int64(c.n), 0)
		captures = append(captures, &transcript.Capture{ID: fmt.Sprintf("%s-%p-%d", c.path, c, c.n), StartedAt: at, EndedAt: at.Add(time.Second / 2),
			Method: "POST", URL: c.path, Status: 200, Outcome: transcript.OK, Request: wireBody(request), Response: wireBody(answer)})
	}
	stored, err := Commit(context.Background(), db, captures)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// checkExcerpt compares what a reader gives that read the steps before with what
// one gives that reads everything.
func checkExcerpt(t *testing.T, db *store.DB, x *textReader, e *transcript.Exchange) {
	t.Helper()
	u := transcript.Unindexed{N: e.N}
	got, gotSame, err := x.read(t.Context(), db, u)
	if err != nil {
		t.Fatal(err)
	}
	whole := &textReader{}
	if e.Link.Parent != "" {
		before, err := whole.before(t.Context(), db, e.Link.Parent)
		if err != nil {
			t.Fatal(err)
		}
		before.segments = nil // nothing is known of them
	}
	want, wantSame, err := whole.read(t.Context(), db, u)
	if err != nil {
		t.Fatal(err)
	}
	type indexed struct {
		Item transcript.SearchItem
		Same transcript.Key
	}
	sorted := func(items []transcript.SearchItem, same []transcript.Key) []indexed {
		var list []indexed
		for i := range items {
			list = append(list, indexed{items[i], same[i]})
		}
		slices.SortFunc(list, func(a, b indexed) int {
			return cmp.Or(cmp.Compare(a.Item.Body, b.Item.Body), cmp.Compare(a.Item.At, b.Item.At))
		})
		return list
	}
	if diff := gocmp.Diff(sorted(want, wantSame), sorted(got, gotSame)); diff != "" {
		t.Fatalf("x%d (-whole +excerpt):\n%s", e.N, diff)
	}
}
