package mock_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/replay/mock"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

type body string

func (b body) Size() int64                  { return int64(len(b)) }
func (b body) Open() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(b))), nil }

// recordings is a database of recordings.
type recordings struct {
	t    testing.TB
	db   *store.DB
	n    int
	list []*transcript.Capture
}

func newRecordings(t testing.TB) *recordings {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &recordings{t: t, db: db}
}

// add records a call of a chat model, if path says nothing else.
func (p *recordings) add(path, request string, status int, answer string, header map[string][]string, chunks ...transcript.Chunk) *transcript.Capture {
	p.n++
	if header == nil {
		header = map[string][]string{"Content-Type": {"application/json"}}
	}
	c := &transcript.Capture{
		ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", p.n), StartedAt: time.Unix(int64(p.n), 0), EndedAt: time.Unix(int64(p.n)+1, 0),
		Method: "POST", URL: "https://api.example" + path, Status: status, Outcome: transcript.OK,
		RequestHeader: map[string][]string{"Content-Type": {"application/json"}}, ResponseHeader: header, Chunks: chunks,
		Request: body(request), Response: body(answer),
	}
	p.list = append(p.list, c)
	return c
}

// serve stores the recordings and serves them, in that order or in a given one.
func (p *recordings) serve(h *mock.Handler, masks ...mock.Mask) *httptest.Server {
	p.t.Helper()
	ctx := context.Background()
	stored, err := ingest.Commit(ctx, p.db, p.list)
	if err != nil {
		p.t.Fatal(err)
	}
	h.Recordings = mock.NewRecordings(p.db, append(mock.Masks(), masks...))
	for _, e := range stored {
		whole, err := p.db.Exchange(ctx, e.ID)
		if err == nil {
			err = h.Recordings.Add(ctx, whole)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
	s := httptest.NewServer(h)
	p.t.Cleanup(s.Close)
	return s
}

const chatPath = "/v1/chat/completions"

// got is an answer.
type got struct {
	status int
	header http.Header
	body   string
	err    error
}

var client = &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}}

func post(url, request string) got {
	resp, err := client.Post(url, "application/json", strings.NewReader(request))
	if err != nil {
		return got{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return got{resp.StatusCode, resp.Header, string(b), err}
}

// refusal is the error of a mock.
type refusal struct {
	Error struct {
		Type, Code, Message, Nearest string
		Diff                         []struct {
			At       string          `json:"at"`
			Recorded json.RawMessage `json:"recorded"`
			Live     json.RawMessage `json:"live"`
		}
		More int
	}
}

func (g got) refusal(t testing.TB) refusal {
	t.Helper()
	var r refusal
	if err := json.Unmarshal([]byte(g.body), &r); err != nil {
		t.Fatalf("%d %s: %v", g.status, g.body, err)
	}
	return r
}

func lines(t *testing.T, name string) []map[string]json.RawMessage {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "D-REP-01", name))
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]json.RawMessage
	for line := range bytes.Lines(data) {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// Equal requests are answered in their order, and what is used up or matches nothing
// is told.
func TestCase_D_REP_01(t *testing.T) {
	p, names := newRecordings(t), map[string]string{}
	for i, r := range lines(t, "cassette.jsonl") {
		var status int
		if err := json.Unmarshal(r["status"], &status); err != nil {
			t.Fatal(err)
		}
		p.add(chatPath, string(r["request"]), status, string(r["response"]), nil)
		names[fmt.Sprintf("x%d", i+1)] = strings.Trim(string(r["name"]), `"`)
	}
	server := p.serve(&mock.Handler{})
	var want struct {
		Replay []struct {
			Send, Text, Error, Nearest string
			Status                     int
			Diff                       []struct{ At, Recorded, Live string }
		}
		Never []int `json:"error_status_not_in"`
	}
	data, err := os.ReadFile("testdata/D-REP-01/expect.json")
	if err == nil {
		err = json.Unmarshal(data, &want)
	}
	if err != nil || len(want.Replay) == 0 {
		t.Fatal(err)
	}
	again := func() {
		for i, r := range lines(t, "live.jsonl") {
			g, w := post(server.URL+chatPath, string(r["request"])), want.Replay[i]
			if w.Error == "" {
				if g.status != w.Status || !strings.Contains(g.body, w.Text) {
					t.Errorf("%d: %+v, want %+v", i, g, w)
				}
				continue
			}
			for _, status := range want.Never {
				if g.status == status || g.status < 400 {
					t.Errorf("%d: status %d", i, g.status)
				}
			}
			e := g.refusal(t).Error
			if e.Code != w.Error || w.Nearest != "" && names[e.Nearest] != w.Nearest || len(e.Diff) != len(w.Diff) {
				t.Errorf("%d: %s, want %+v", i, g.body, w)
			}
			for k := range min(len(e.Diff), len(w.Diff)) {
				d := e.Diff[k]
				if d.At != w.Diff[k].At || string(d.Recorded) != `"`+w.Diff[k].Recorded+`"` || string(d.Live) != `"`+w.Diff[k].Live+`"` {
					t.Errorf("%d: %+v, want %+v", i, d, w.Diff[k])
				}
			}
		}
	}
	again()
	if g := post(server.URL+"/_retake/rewind", ""); g.status != 200 || !strings.Contains(g.body, `"left":3`) {
		t.Errorf("rewind: %+v", g)
	}
	again()
}

func chat(texts ...string) string {
	var list []string
	for i, text := range texts {
		role := "user"
		if i%2 == 1 {
			role = "assistant"
		}
		list = append(list, fmt.Sprintf(`{"role":%q,"content":%q}`, role, text))
	}
	return `{"model":"m","messages":[` + strings.Join(list, ",") + `]}`
}

func saying(text string) string {
	return fmt.Sprintf(`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`, text)
}

func TestMatch(t *testing.T) {
	for name, c := range map[string]struct {
		path, recorded, live string
		want                 bool
	}{
		"spaces and the order of members": {"", `{"model":"m","messages":[{"role":"user","content":"a"}]}`, "{ \"messages\" : [ {\"content\":\"a\",\n\"role\":\"user\"} ], \"model\":\"m\" }", true},
		"a uuid":                          {"", chat("session 0190a000-0000-7000-8000-000000000001"), chat("session 0190a000-0000-7000-8000-00000000ffff"), true},
		"a date":                          {"", chat("Today is 2026-01-02."), chat("Today is 2026-03-04."), true},
		"a date in words":                 {"", chat("Mon Jan 5 2026"), chat("Tue Mar 17 2026"), true},
		"a duration":                      {"", chat("ok ./... 0.31s"), chat("ok ./... 12.5s"), true},
		"a token countdown":               {"", chat("Token usage: 10/200000; 199990 remaining"), chat("Token usage: 1234/200000; 198766 remaining"), true},
		"a temporary path":                {"", chat("read /tmp/x.abc123/w/note.txt"), chat("read /tmp/y.9/w/note.txt"), true},
		"another file of that":            {"", chat("read /tmp/x.abc123/w/note.txt"), chat("read /tmp/y.9/w/other.txt"), false},
		"the working directory":           {"", chat("Working directory: /home/a/proj\nls", "ok", "see /home/a/proj/x.go"), chat("Working directory: /srv/b\nls", "ok", "see /srv/b/x.go"), true},
		"a member of the client":          {"", `{"prompt_cache_key":"a","metadata":{"user_id":"u1"},"messages":[{"role":"user","content":"a","cache_control":{"type":"x"}}]}`, `{"prompt_cache_key":"b","metadata":{"user_id":"u2"},"messages":[{"role":"user","content":"a"}]}`, true},
		"an item's id of the client":      {"/v1/responses", `{"input":[{"type":"x","id":"at_0190a000-0000-7000-8000-000000000001"}]}`, `{"input":[{"type":"x","id":"at_0190a000-0000-7000-8000-000000000002"}]}`, true},
		"a mask of one's own":             {"", chat("ticket T-1"), chat("ticket T-2"), true},
		"another text":                    {"", chat("a"), chat("b"), false},
		"another number":                  {"", `{"temperature":0,"messages":[]}`, `{"temperature":1,"messages":[]}`, false},
		"streamed":                        {"", chat("a"), strings.Replace(chat("a"), "{", `{"stream":true,`, 1), false},
		"not streamed, as is said":        {"", chat("a"), strings.Replace(chat("a"), "{", `{"stream":false,`, 1), true},
		"a call id":                       {"", `{"messages":[{"role":"tool","tool_call_id":"0190a000-0000-7000-8000-000000000001","content":"a"}]}`, `{"messages":[{"role":"tool","tool_call_id":"0190a000-0000-7000-8000-000000000002","content":"a"}]}`, false},
		"another path":                    {"/v1/responses", chat("a"), chat("a"), false},
		"a path below a name":             {"/openai" + chatPath, chat("a"), chat("a"), true},
		"what is no JSON":                 {"", `{"messages":[`, `{"messages":[`, true},
		"a key in the query":              {chatPath + "?key=secret&alt=sse", chat("a"), chat("a"), false},
	} {
		t.Run(name, func(t *testing.T) {
			p, path := newRecordings(t), chatPath
			if strings.HasPrefix(name, "an item") {
				path = c.path
			}
			p.add(path, c.recorded, 200, saying("yes"), nil)
			own, err := mock.ParseMask(`\bT-\d+`)
			if err != nil {
				t.Fatal(err)
			}
			server := p.serve(&mock.Handler{}, own)
			if c.path != "" {
				path = c.path
			}
			g := post(server.URL+path, c.live)
			if (g.status == 200) != c.want {
				t.Errorf("%d %s", g.status, g.body)
			}
			if !c.want && g.refusal(t).Error.Code != "replay_no_match" {
				t.Errorf("%s", g.body)
			}
		})
	}
}

// Of recordings that are equal with masks only, the one that is equal without is
// served.
func TestMatch_WithoutMasksGoesFirst(t *testing.T) {
	p := newRecordings(t)
	p.add(chatPath, chat("wait 1 s"), 200, saying("one"), nil)
	p.add(chatPath, chat("wait 2 s"), 200, saying("two"), nil)
	server := p.serve(&mock.Handler{})
	for _, c := range [][2]string{{"wait 2 s", "two"}, {"wait 2 s", "replay_exhausted"}, {"wait 9 s", "one"}, {"wait 9 s", "replay_exhausted"}} {
		if g := post(server.URL+chatPath, chat(c[0])); !strings.Contains(g.body, c[1]) {
			t.Errorf("%s: %s, want %s", c[0], g.body, c[1])
		}
	}
}

func TestPlay_KeepsStatusHeadersBytesAndPieces(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(saying("packed")))
	z.Close()
	stream := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n"
	p := newRecordings(t)
	p.add(chatPath, chat("packed"), 200, packed.String(), map[string][]string{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}, "X-Own": {"a", "b"}, "Set-Cookie": {"[redacted] fp:1"}, "Connection": {"close"}})
	p.add(chatPath, chat("stream"), 201, stream, map[string][]string{"Content-Type": {"text/event-stream"}}, transcript.Chunk{Offset: 0, At: time.Second}, transcript.Chunk{Offset: 7, At: 3 * time.Second}, transcript.Chunk{Offset: 30, At: 3 * time.Second})
	cut := p.add(chatPath, chat("cut"), 200, stream[:20], map[string][]string{"Content-Type": {"text/event-stream"}}, transcript.Chunk{})
	cut.Outcome = transcript.UpstreamReset
	none := p.add(chatPath, chat("none"), 0, "", nil)
	none.Outcome = transcript.UpstreamReset
	var waits []time.Duration
	server := p.serve(&mock.Handler{Speed: 0.001, Wait: func(_ context.Context, d time.Duration) error {
		waits = append(waits, d.Round(time.Hour/6))
		return nil
	}})

	g := post(server.URL+chatPath, chat("packed"))
	if g.body != packed.String() || g.header.Get("Content-Encoding") != "gzip" || len(g.header["X-Own"]) != 2 || g.header["Set-Cookie"] != nil || g.header["Date"] != nil {
		t.Errorf("%+v", g)
	}
	g = post(server.URL+chatPath, chat("stream"))
	if g.status != 201 || g.body != stream || g.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%+v", g)
	}
	if want := []time.Duration{1000 * time.Second, 3000 * time.Second, 3000 * time.Second}; !cmp.Equal(waits, []time.Duration{want[0].Round(time.Hour / 6), want[1].Round(time.Hour / 6), want[2].Round(time.Hour / 6)}) {
		t.Errorf("waits %v", waits)
	}
	if g = post(server.URL+chatPath, chat("cut")); g.body != stream[:20] || g.err == nil {
		t.Errorf("cut: %+v", g)
	}
	if g = post(server.URL+chatPath, chat("none")); g.err == nil {
		t.Errorf("no answer: %+v", g)
	}
}

// Each piece is with the client before the next one is written.
func TestPlay_PiecesComeOneByOne(t *testing.T) {
	p := newRecordings(t)
	p.add(chatPath, chat("s"), 200, "onetwo", map[string][]string{"Content-Type": {"text/event-stream"}}, transcript.Chunk{Offset: 0}, transcript.Chunk{Offset: 3, At: time.Second})
	read := make(chan bool)
	server := p.serve(&mock.Handler{Speed: 1, Wait: func(ctx context.Context, d time.Duration) error {
		select {
		case <-read:
		case <-ctx.Done():
		}
		return ctx.Err()
	}})
	resp, err := client.Post(server.URL+chatPath, "application/json", strings.NewReader(chat("s")))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, 3)
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "one" {
		t.Fatalf("%q %v", first, err)
	}
	close(read)
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "two" {
		t.Errorf("%q %v", rest, err)
	}
}
