package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

func dial(at string) (net.Conn, error) { return net.DialTimeout("tcp", at, 5*time.Second) }

func readResponse(conn net.Conn) (*http.Response, error) {
	return http.ReadResponse(bufio.NewReader(conn), nil)
}

// program is recorder as a process of its own.
type program struct {
	cmd *exec.Cmd
	url string
}

var listens = regexp.MustCompile(`recording on (http://\S+)`)

// runProgram starts this test binary as recorder and waits until it listens.
func runProgram(t *testing.T, db, upstream string) *program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "recorder")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(link, "--listen", "127.0.0.1:0", "--web", "off", "--db", db, "--upstream", upstream)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := listens.FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(io.Discard, out)
			return &program{cmd, m[1]}
		}
	}
	t.Fatal("recorder ended before it listened")
	return nil
}

// slow answers with an event stream of n events, with a pause between them.
func slow(n int, pause time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range n {
			fmt.Fprintf(w, "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%d \"},\"finish_reason\":null}]}\n\n", i)
			http.NewResponseController(w).Flush()
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
				return
			}
		}
		io.WriteString(w, "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	})
}

const question = `{"model":"m","stream":true,"messages":[{"role":"user","content":"count"}]}`

func post(url string) (*http.Response, error) {
	return http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(question))
}

func TestCase_KilledInTheMiddleOfAStream(t *testing.T) { // D-STO-03
	switching := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Slow") != "" {
			slow(100, 5*time.Millisecond).ServeHTTP(w, r)
			return
		}
		slow(3, 0).ServeHTTP(w, r)
	}))
	defer switching.Close()
	db := filepath.Join(t.TempDir(), "t.db")
	first := runProgram(t, db, switching.URL)
	for range 3 {
		resp, err := post(first.url)
		if err != nil {
			t.Fatal(err)
		}
		read(t, resp)
	}
	req, err := http.NewRequest("POST", first.url+"/v1/chat/completions", strings.NewReader(question))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Slow", "1")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	lines := bufio.NewReader(resp.Body)
	for events := 0; events < 30; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(line)
		if line == "\n" {
			events++
		}
	}
	first.cmd.Process.Kill()
	first.cmd.Wait()
	resp.Body.Close()

	second := runProgram(t, db, switching.URL)
	fifth, err := post(second.url)
	if err != nil {
		t.Fatal(err)
	}
	read(t, fifth)
	second.cmd.Process.Signal(os.Interrupt)
	if err := second.cmd.Wait(); err != nil {
		t.Errorf("stop: %v", err)
	}
	complete, cut := 0, 0
	s, err := store.OpenReader(db)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for e, err := range s.Exchanges(context.Background(), transcript.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Complete {
			complete++
			continue
		}
		cut++
		bodies, err := history.Read(context.Background(), s, e)
		if err != nil || e.Outcome != transcript.RecorderCrashed || e.Status != 200 || !strings.HasPrefix(string(bodies.Response), got.String()) {
			t.Errorf("cut exchange: outcome %s, status %d, %d bytes (%v); the client had got %d", e.Outcome, e.Status, len(bodies.Response), err, got.Len())
		}
	}
	if complete != 4 || cut != 1 {
		t.Errorf("%d complete and %d cut exchanges, want 4 and 1", complete, cut)
	}
	if problems, err := s.Verify(context.Background(), nil); err != nil || len(problems) > 0 {
		t.Errorf("verify finds %v (%v)", problems, err)
	}
}
