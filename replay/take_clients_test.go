package replay_test

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/replaytest"
	"github.com/retake-debugger/retake/transcript"
)

const clients = "../../shared/clients"

// startStub starts the stub model, whose last word quotes the sum of all tool results
// that it was told. It is skipped where that cannot be.
func startStub(t *testing.T) (url string) {
	t.Helper()
	if _, err := os.Stat(clients + "/stub/stub.mjs"); err != nil {
		t.Skip("no ../shared/clients")
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("no " + program)
		}
	}
	dir := filepath.Join(t.TempDir(), "stub")
	if err := os.CopyFS(dir, os.DirFS(clients+"/stub")); err != nil {
		t.Fatal(err)
	}
	install := exec.Command("npm", "ci", "--no-audit", "--no-fund")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("the stub cannot be installed: %v\n%s", err, out)
	}
	cmd := exec.Command("node", "stub.mjs")
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("the stub cannot be started: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if at := regexp.MustCompile(`http://\S+`).FindString(line); at != "" {
		return at
	}
	t.Fatalf("the stub says %q, %v", line, err)
	return ""
}

// clientRuns stores what a client sent and got, and gives its runs by the exchanges of
// each that ask a model.
func clientRuns(t *testing.T, b *bench, client string) [][]*transcript.Exchange {
	t.Helper()
	f, err := os.Open(filepath.Join(clients, "traffic", client+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, 1<<20)
	var captures []*transcript.Capture
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 {
			break
		}
		var r struct {
			Method, Target string
			Headers        [][2]string
			Body           string `json:"body_b64"`
			Resp           struct {
				Status  int
				Headers json.RawMessage
				Body    string `json:"body_b64"`
			}
		}
		if err != nil || json.Unmarshal(line, &r) != nil || r.Method != "POST" || r.Resp.Status != 200 {
			continue
		}
		at := time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC)
		c := &transcript.Capture{ID: fmt.Sprintf("0190a000-0000-7000-8000-%012x", len(captures)+1), StartedAt: at, EndedAt: at.Add(time.Second), Method: r.Method,
			URL: "http://127.0.0.1:1" + r.Target, Status: r.Resp.Status, Outcome: transcript.OK, RequestHeader: map[string][]string{}, Request: body(decoded(t, r.Body)), Response: body(decoded(t, r.Resp.Body))}
		for _, h := range r.Headers {
			if name := strings.ToLower(h[0]); name != "authorization" && name != "x-api-key" && name != "content-length" {
				c.RequestHeader[h[0]] = append(c.RequestHeader[h[0]], h[1])
			}
		}
		c.ResponseHeader = headersOf(t, r.Resp.Headers)
		captures = append(captures, c)
	}
	stored, err := ingest.Commit(context.Background(), b.DB, captures)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	byRun := map[string][]*transcript.Exchange{}
	for _, e := range stored {
		if e.Dialect == transcript.Unknown || e.Link.Side {
			continue
		}
		if byRun[e.Link.Run] == nil {
			order = append(order, e.Link.Run)
		}
		byRun[e.Link.Run] = append(byRun[e.Link.Run], e)
	}
	var runs [][]*transcript.Exchange
	for _, id := range order {
		if len(byRun[id]) > 1 { // not a token count
			runs = append(runs, byRun[id])
		}
	}
	return runs
}

func decoded(t *testing.T, s string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// headersOf reads headers that are an object or a list of pairs.
func headersOf(t *testing.T, raw json.RawMessage) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	var pairs [][2]string
	if json.Unmarshal(raw, &pairs) == nil {
		for _, p := range pairs {
			out[p[0]] = append(out[p[0]], p[1])
		}
		return out
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	for name, v := range object {
		out[name] = []string{fmt.Sprint(v)}
	}
	return out
}

// What real clients recorded is gone on with from its first step and from its last,
// with all results edited: the last word is what the edited results give, and no
// tool is run.
func TestPlay_ContinuesWhatRealClientsRecorded(t *testing.T) {
	stub := startStub(t)
	for client, want := range map[string]int{"openai-sdk": 5, "anthropic-sdk": 4, "codex": 1, "claude-code": 1} {
		t.Run(client, func(t *testing.T) {
			b := newBench(t)
			runs := clientRuns(t, b, client)
			if len(runs) != want {
				t.Fatalf("%d runs, want %d", len(runs), want)
			}
			for _, run := range runs {
				goOnWith(t, b, stub, run)
			}
		})
	}
}

func goOnWith(t *testing.T, b *bench, stub string, run []*transcript.Exchange) {
	t.Helper()
	rows, err := b.DB.IntroducedResults(t.Context(), run[len(run)-1].ID)
	if err != nil || len(rows) == 0 {
		t.Fatalf("the last step of a run brings %v, %v", rows, err)
	}
	var edits []transcript.Edit
	var texts []string
	for i, row := range rows {
		texts = append(texts, fmt.Sprintf("edited %d\n\"é\"", i))
		edits = append(edits, transcript.Edit{Op: transcript.SetResult, CallID: row.CallID, Text: texts[i]})
	}
	h := sha1.Sum([]byte(strings.Join(texts, "\n")))
	sum := "sha1=" + hex.EncodeToString(h[:])
	for name, play := range map[string]struct {
		origin     *transcript.Exchange
		now, later []transcript.Edit
	}{"from the first step": {run[0], nil, edits}, "from the last step": {run[len(run)-1], edits, nil}} {
		req := replaytest.Prepare(t, b.DB, play.origin, play.now...)
		if err := req.SendTo(stub); err != nil {
			t.Fatal(err)
		}
		take, err := b.Player().Play(t.Context(), req, replay.Options{Sources: tapeOf(t, b.DB, play.origin, play.later...), Edits: play.later})
		if err != nil {
			t.Fatal(err)
		}
		if take.StopReason != transcript.StopAnswered || !strings.Contains(take.FinalText, sum) {
			t.Errorf("%s of x%d (%s): %q, %s %v; want %s", name, play.origin.N, play.origin.URL, take.FinalText, take.StopReason, take.Error, sum)
		}
		if got := sources(take); got != strings.TrimSpace(strings.Repeat("edited ", len(edits))) {
			t.Errorf("%s of x%d: results from %s", name, play.origin.N, got)
		}
	}
}
