package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// The cases are failures that users of such tools have reported, each with an
// input and the right result.

// caseFile reads one file of a case.
func caseFile(t *testing.T, parts ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"testdata", "cases"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// caseHeaders are the headers of a case's request and response.
func caseHeaders(t *testing.T, id string) (path string, request, response http.Header) {
	t.Helper()
	var h struct {
		Request, Response struct {
			Path    string
			Headers map[string]string
		}
	}
	if err := json.Unmarshal(caseFile(t, id, "headers.json"), &h); err != nil {
		t.Fatal(err)
	}
	header := func(m map[string]string) http.Header {
		out := http.Header{}
		for name, value := range m {
			out.Set(name, value)
		}
		return out
	}
	return h.Request.Path, header(h.Request.Headers), header(h.Response.Headers)
}

// running is a recorder of this process in front of a server.
type running struct {
	t   *testing.T
	s   *session
	db  string
	log *lockedBuffer
}

func record(t *testing.T, upstream string) *running {
	t.Helper()
	r := &running{t: t, db: filepath.Join(t.TempDir(), "t.db"), log: &lockedBuffer{}}
	o := &options{stderr: r.log, getenv: func(string) string { return "" }, listen: "127.0.0.1:0", web: "127.0.0.1:0", db: r.db, logFormat: "text", websocket: "426"}
	upstreams, err := parseUpstreams([]string{upstream})
	if err != nil {
		t.Fatal(err)
	}
	if r.s, err = start(o, upstreams, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.stop)
	if err := r.s.opened(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *running) stop() {
	if r.s == nil {
		return
	}
	if err := r.s.stop(); err != nil {
		r.t.Errorf("stop: %v", err)
	}
	r.s = nil
}

// exchanges waits until n exchanges are stored and shows them as they began.
func (r *running) exchanges(n int) []*view.Exchange {
	r.t.Helper()
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		db := r.s.db.Store()
		var stored []*transcript.Exchange
		for e, err := range db.Exchanges(context.Background(), transcript.Filter{Oldest: true}) {
			if err != nil {
				r.t.Fatal(err)
			}
			stored = append(stored, e)
		}
		if len(stored) >= n {
			return r.shown(db, stored)
		}
		if time.Since(began) > 30*time.Second {
			r.t.Fatalf("%d exchanges stored within 30 s, want %d:\n%s", len(stored), n, r.log)
		}
	}
}

func (r *running) shown(db transcript.Reader, stored []*transcript.Exchange) []*view.Exchange {
	r.t.Helper()
	shown := make([]*view.Exchange, len(stored))
	for i, e := range stored {
		var err error
		if shown[i], err = view.NewExchange(context.Background(), db, e); err != nil {
			r.t.Fatal(err)
		}
	}
	slices.SortFunc(shown, func(a, b *view.Exchange) int { return a.StartedAt.Compare(*b.StartedAt) })
	return shown
}

func (r *running) send(method, target string, header http.Header, body []byte) *http.Response {
	r.t.Helper()
	req, err := http.NewRequest(method, "http://"+r.s.proxyAt.Addr().String()+target, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := (&http.Transport{DisableCompression: true}).RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp
}

func read(t *testing.T, resp *http.Response) []byte {
	t.Helper()
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func TestCase_CompressedRequestsAreReadableAndUntouched(t *testing.T) { // D-CAP-01
	path, header, answer := caseHeaders(t, "D-CAP-01")
	response := caseFile(t, "D-CAP-01", "response.sse")
	var got []string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, sum(body)+" "+r.Header.Get("Content-Encoding")+" "+r.Header.Get("Content-Length"))
		w.Header()["Content-Type"] = answer["Content-Type"]
		w.Write(response)
	}))
	defer upstream.Close()
	r := record(t, upstream.URL)
	for _, file := range []string{"request.json.zst", "02.corrupt.json.zst"} {
		resp := r.send("POST", path, header, caseFile(t, "D-CAP-01", file))
		if body := read(t, resp); resp.StatusCode != 200 || sum(body) != "7242f2bdbaf937f57551bf54fac940d924bbc7f1338df4e61e1e48924b11e81e" {
			t.Errorf("%s: status %d, answer %s", file, resp.StatusCode, sum(body))
		}
	}
	if got[0] != "2430adfebd1be4d971559c6607519c5a2b70693f5dbb2ff935da267fb6d4716f zstd 249" ||
		!strings.HasPrefix(got[1], "f42a4f3258dc597fb632649fda5ff6f1abcb666d7d962cfc8044c78d49be7a40 zstd") {
		t.Errorf("the upstream got %q", got)
	}
	x := r.exchanges(2)
	first, second := x[0], x[1]
	if first.Model != "test-codex" || first.Outcome != transcript.OK || first.Usage == nil || first.Usage.Total != 42 {
		t.Errorf("model %q, outcome %s, usage %+v", first.Model, first.Outcome, first.Usage)
	}
	var said, tools []string
	for _, it := range first.Input {
		switch it.Kind {
		case transcript.MessageItem:
			said = append(said, it.Text)
		case transcript.ToolDefinition:
			tools = append(tools, it.Name)
		}
	}
	if strings.Join(said, "") != "list files — größe ≤ 1 MB" || strings.Join(tools, ",") != "shell" {
		t.Errorf("input %q with tools %q", said, tools)
	}
	if second.Request.DecodeError == "" || second.Status != 200 {
		t.Errorf("second: decode error %q, status %d; want an error and the upstream's status", second.Request.DecodeError, second.Status)
	}
}

func TestCase_CompressedStreamsStayProgressive(t *testing.T) { // D-CAP-02
	path, header, answer := caseHeaders(t, "D-CAP-02")
	wire := caseFile(t, "D-CAP-02", "response.sse.gz")
	var plan struct {
		EndOffsets []int `json:"end_offsets"`
	}
	if err := json.Unmarshal(caseFile(t, "D-CAP-02", "chunks.json"), &plan); err != nil {
		t.Fatal(err)
	}
	arrived := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range answer {
			w.Header()[name] = values
		}
		start := 0
		for _, end := range plan.EndOffsets {
			w.Write(wire[start:end])
			http.NewResponseController(w).Flush()
			start = end
			select {
			case <-arrived: // the client has this piece: only then the next one is sent
			case <-time.After(10 * time.Second):
				return
			}
			time.Sleep(3 * time.Millisecond)
		}
	}))
	defer upstream.Close()
	r := record(t, upstream.URL)
	resp := r.send("POST", path, header, caseFile(t, "D-CAP-02", "request.json"))
	if resp.Header.Get("Content-Encoding") != "gzip" || resp.ContentLength != -1 {
		t.Errorf("encoding %q, length %d", resp.Header.Get("Content-Encoding"), resp.ContentLength)
	}
	var got []byte
	start := 0
	for _, end := range plan.EndOffsets {
		piece := make([]byte, end-start)
		if _, err := io.ReadFull(resp.Body, piece); err != nil {
			t.Fatalf("piece up to %d did not come before the next was sent: %v", end, err)
		}
		got, start = append(got, piece...), end
		arrived <- struct{}{}
	}
	resp.Body.Close()
	if sum(got) != "e808ab55d854bbb4eedead809956daa6b42a7f9a7bde37f7628cd70517b6f233" {
		t.Error("the client got other bytes")
	}
	x := r.exchanges(1)[0]
	if x.Text != "Grüße aus 世界!" || x.Usage == nil || x.Usage.Total != 17 || x.FinishReason == nil || *x.FinishReason != "stop" {
		t.Errorf("text %q, usage %+v, finish %v", x.Text, x.Usage, x.FinishReason)
	}
	if x.Timing.TTFTms == nil || *x.Timing.TTFTms >= *x.Timing.DurationMS {
		t.Errorf("time to first token %v of %v", x.Timing.TTFTms, x.Timing.DurationMS)
	}
	e, err := r.s.db.Store().Exchange(context.Background(), x.ID)
	if err != nil {
		t.Fatal(err)
	}
	chunks := e.Response.Chunks
	if len(chunks) != len(plan.EndOffsets) {
		t.Fatalf("%d pieces recorded, want %d", len(chunks), len(plan.EndOffsets))
	}
	for i := 1; i < len(chunks); i++ {
		if chunks[i].At <= chunks[i-1].At {
			t.Errorf("piece %d came at %v, not after %v", i, chunks[i].At, chunks[i-1].At)
		}
	}
}

func TestCase_AClientThatHangsUpIsKeptAsCut(t *testing.T) { // D-CAP-03
	path, header, answer := caseHeaders(t, "D-CAP-03")
	whole := caseFile(t, "D-CAP-03", "response.sse")
	cancelled := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(cancelled)
		w.Header()["Content-Type"] = answer["Content-Type"]
		for _, event := range bytes.SplitAfter(whole, []byte("\n\n")) {
			if _, err := w.Write(event); err != nil {
				return
			}
			http.NewResponseController(w).Flush()
			if bytes.Contains(event, []byte("part3 ")) {
				select { // the rest is sent only if nobody hangs up
				case <-r.Context().Done():
					return
				case <-time.After(10 * time.Second):
				}
			}
		}
	}))
	defer upstream.Close()
	r := record(t, upstream.URL)
	resp := r.send("POST", path, header, caseFile(t, "D-CAP-03", "request.json"))
	var got []byte
	for buf := make([]byte, 256); !bytes.Contains(got, []byte("part3 ")); {
		n, err := resp.Body.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, buf[:n]...)
	}
	resp.Body.Close()
	select {
	case <-cancelled:
	case <-time.After(2 * time.Second):
		t.Error("the upstream call was not cancelled within 2 s")
	}
	x := r.exchanges(1)[0]
	if x.Outcome != transcript.ClientDisconnect || x.Complete || x.Status != 200 {
		t.Errorf("outcome %s, complete %v, status %d", x.Outcome, x.Complete, x.Status)
	}
	if !strings.HasPrefix(x.Text, "part1 part2 part3 ") || strings.Contains(x.Text, "part8") {
		t.Errorf("text %q", x.Text)
	}
	if u := x.Usage; u == nil || u.InputTotal != 45 || u.Output != 1 || u.Complete {
		t.Errorf("usage %+v, want lower bounds", u)
	}
	e, err := r.s.db.Store().Exchange(context.Background(), x.ID)
	if err != nil {
		t.Fatal(err)
	}
	bodies, err := history.Read(context.Background(), r.s.db.Store(), e)
	if err != nil || !bytes.HasPrefix(whole, bodies.Response) || !bytes.HasPrefix(bodies.Response, got) {
		t.Errorf("%d bytes stored (%v), the client got %d; want all of them and a prefix of the stream", len(bodies.Response), err, len(got))
	}
}

func TestCase_BaseURLsAreJoinedOnce(t *testing.T) { // D-CLI-02
	var table struct {
		Table []struct{ Upstream, Request, Sent string }
	}
	if err := json.Unmarshal(caseFile(t, "D-CLI-02", "expect.json"), &table); err != nil || len(table.Table) == 0 {
		t.Fatalf("no rows (%v)", err)
	}
	var got, beta, host string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, beta, host = r.RequestURI, r.Header.Get("Anthropic-Beta"), r.Host
	}))
	defer upstream.Close()
	path := func(url string) string { // without scheme and host
		_, rest, _ := strings.Cut(url, "://")
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[i:]
		}
		return ""
	}
	const value = "context-1m-2025-08-07,interleaved-thinking-2025-05-14"
	for _, row := range table.Table {
		r := record(t, upstream.URL+path(row.Upstream))
		read(t, r.send("POST", row.Request, http.Header{"Anthropic-Beta": {value}}, []byte("{}")))
		if got != path(row.Sent) || beta != value || "http://"+host != upstream.URL {
			t.Errorf("%s %s: sent %s to %s with %q, want %s", row.Upstream, row.Request, got, host, beta, path(row.Sent))
		}
		r.stop()
	}
}

func TestCase_UnknownHostsAreRefused(t *testing.T) { // D-SEC-02
	var cases struct {
		Cases []struct{ Host, Expect string } `json:"http_cases"`
	}
	if err := json.Unmarshal(caseFile(t, "D-SEC-02", "expect.json"), &cases); err != nil || len(cases.Cases) == 0 {
		t.Fatalf("no rows (%v)", err)
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "data of the upstream") }))
	defer upstream.Close()
	r := record(t, upstream.URL)
	read(t, r.send("POST", "/v1/x", nil, []byte("recorded")))
	r.exchanges(1)
	for _, c := range cases.Cases {
		for at, target := range map[string]string{r.s.proxyAt.Addr().String(): "/v1/x", r.s.viewerAt.Addr().String(): "/", "": "/api/exchanges"} {
			if at == "" {
				at = r.s.viewerAt.Addr().String()
			}
			status, body := rawGet(t, at, target, strings.Replace(c.Host, "PORT", at[strings.LastIndexByte(at, ':')+1:], 1))
			if refused := status >= 400 && status < 500; refused != (c.Expect == "4xx") || status == 0 {
				t.Errorf("host %q at %s: status %d, want %s", c.Host, target, status, c.Expect)
			}
			if c.Expect == "4xx" && (strings.Contains(body, "recorded") || strings.Contains(body, "data of the upstream")) {
				t.Errorf("host %q at %s: the refusal holds data", c.Host, target)
			}
		}
	}
}

func TestCase_CredentialsAreNowhereAtRest(t *testing.T) { // D-SEC-04
	path, header, answer := caseHeaders(t, "D-SEC-04")
	var got http.Header
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		for name, values := range answer {
			w.Header()[name] = values
		}
		w.Write(caseFile(t, "D-SEC-04", "response.json"))
	}))
	defer upstream.Close()
	r := record(t, upstream.URL)
	resp := r.send("POST", path+"?key=query-HDRTEST-0008", header, caseFile(t, "D-SEC-04", "request.json"))
	read(t, resp)
	if resp.Header.Get("Set-Cookie") != "sid=HDRTEST-0007" {
		t.Error("the client did not get its cookie")
	}
	for name, values := range header {
		if name != "Proxy-Authorization" && strings.Join(got[name], "") != strings.Join(values, "") { // that one is for a proxy, hop by hop
			t.Errorf("%s did not reach the upstream", name)
		}
	}
	x := r.exchanges(1)[0]
	if v := x.Request.Headers["Openai-Organization"]; len(v) != 1 || v[0] != "org-keepme" {
		t.Errorf("organization shown as %q", v)
	}
	for _, name := range []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie"} {
		if v := x.Request.Headers[name]; len(v) != 1 || !strings.Contains(v[0], "[redacted]") {
			t.Errorf("%s shown as %q", name, v)
		}
	}
	shown, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	secret := func(where string, data []byte) {
		for _, s := range []string{"HDRTEST", "SERSVEVTVC0wMDA2"} {
			if bytes.Contains(data, []byte(s)) {
				t.Errorf("%s holds %s", where, s)
			}
		}
	}
	files := func() {
		n := 0
		err := filepath.WalkDir(filepath.Dir(r.db), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			n++
			secret(path, data)
			return err
		})
		if err != nil || n == 0 {
			t.Errorf("%d files searched (%v)", n, err)
		}
	}
	secret("the JSON", shown)
	for _, page := range []string{"/", "/x/1", "/x/1/wire", "/api/exchanges/1"} {
		_, body := rawGet(t, r.s.viewerAt.Addr().String(), page, "127.0.0.1")
		secret(page, []byte(body))
	}
	files() // with the spool and the log of the database
	r.stop()
	files()
	secret("the log", []byte(r.log.String()))
}

// rawGet sends a GET with any Host, also one that clients would not send.
func rawGet(t *testing.T, at, target, host string) (status int, body string) {
	t.Helper()
	conn, err := dial(at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET "+target+" HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n")
	resp, err := readResponse(conn)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}
