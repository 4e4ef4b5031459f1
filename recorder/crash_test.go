package recorder_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/transcript"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("RECORDER_TEST_CHILD"); dir != "" {
		child(dir, os.Getenv("RECORDER_TEST_UPSTREAM"))
		return
	}
	os.Exit(m.Run())
}

// child is a recorder that says its URL and, for each record that it has
// released, the case.
func child(dir, up string) {
	u, _ := url.Parse(up)
	spool, err := spool.Open(dir, spool.Options{FileBytes: 64 << 10, Stall: time.Minute})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	p, err := recorder.NewProxy(recorder.Options{Spool: spool, Upstreams: []recorder.Upstream{{URL: u}}})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("http://" + l.Addr().String())
	go func() {
		for i := 0; ; i++ {
			r, err := spool.Next(context.Background())
			if err != nil {
				return
			}
			name := r.RequestHeader["X-Case"][0]
			fmt.Println("releasing " + name)
			if i%3 > 0 { // one in three waits for ever
				r.Release()
				fmt.Println("released " + name)
			}
		}
	}()
	_ = (&http.Server{Handler: p}).Serve(l)
}

// numbered is a body in which every place can be told from every other.
func numbered(name string, from, n int) string {
	var b strings.Builder
	for i := from; i < from+n; i++ {
		fmt.Fprintf(&b, "%s %06d\n", name, i)
	}
	return b.String()
}

// A recorder that is killed at any moment has lost nothing that a client got,
// and what was released does not come back.
func TestSpool_SurvivesKill(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Header.Get("X-Case")
		io.Copy(io.Discard, r.Body)
		for i := 0; i < 40; i += 4 {
			io.WriteString(w, numbered(name, i, 4))
			w.(http.Flusher).Flush()
			if strings.HasSuffix(name, "1") {
				time.Sleep(time.Millisecond)
			}
		}
	}))
	defer up.Close()
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	dir := t.TempDir()
	released := map[string]bool{}
	for round := range rounds {
		killRound(t, dir, up.URL, fmt.Sprintf("r%d", round), time.Duration(rnd.Intn(120))*time.Millisecond, released)
		if t.Failed() {
			return
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%d folders are left", len(left))
	}
}

func killRound(t *testing.T, dir, up, round string, life time.Duration, released map[string]bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RECORDER_TEST_CHILD="+dir, "RECORDER_TEST_UPSTREAM="+up)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	base, err := lines.ReadString('\n')
	if err != nil || !strings.HasPrefix(base, "http://") {
		t.Fatal(base, err)
	}
	base = strings.TrimSpace(base)
	got, stop := clients(base, round)
	time.Sleep(life)
	cmd.Process.Kill()
	said, _ := io.ReadAll(lines)
	cmd.Wait()
	stop()
	releasing := map[string]bool{}
	for line := range strings.Lines(string(said)) {
		if name, ok := strings.CutPrefix(line, "releasing "); ok {
			releasing[strings.TrimSpace(name)] = true
		}
		if name, ok := strings.CutPrefix(line, "released "); ok {
			released[strings.TrimSpace(name)] = true
		}
	}
	recovered := readLeftovers(t, dir, released)
	for name, received := range got {
		back, ok := recovered[name]
		if !ok && !releasing[name] && received != "" {
			t.Errorf("%s is lost; the client had %d bytes", name, len(received))
		}
		if ok && !strings.HasPrefix(back, received) {
			t.Errorf("%s: the client has %d bytes, the record %d", name, len(received), len(back))
		}
	}
}

// clients sends requests until the connection breaks and returns what each got.
func clients(base, round string) (got map[string]string, stop func()) {
	got = map[string]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			c := &http.Client{Transport: &http.Transport{}}
			for i := range 10000 {
				name := fmt.Sprintf("%s-%d-%d", round, worker, i)
				request := numbered(name, 0, rand.Intn(400)*(i%3))
				r, _ := http.NewRequest("POST", base+"/v1/x", strings.NewReader(request))
				r.Header.Set("X-Case", name)
				resp, err := c.Do(r)
				received := ""
				if err == nil {
					b, readErr := io.ReadAll(resp.Body)
					received, err = string(b), readErr
				}
				mu.Lock()
				got[name] = received
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	return got, wg.Wait
}

// readLeftovers reads the leftovers and returns the answers by case.
func readLeftovers(t *testing.T, dir string, released map[string]bool) map[string]string {
	t.Helper()
	spool, err := spool.Open(dir, spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer spool.Close()
	recovered := map[string]string{}
	last := time.Time{}
	for r, err := range spool.Leftovers() {
		if err != nil {
			t.Error(err)
			continue
		}
		name := r.RequestHeader["X-Case"][0]
		if released[name] {
			t.Errorf("%s was released and came back", name)
		}
		if _, twice := recovered[name]; twice {
			t.Errorf("%s came twice", name)
		}
		answer := body(t, r.Response)
		recovered[name] = answer
		switch r.Outcome {
		case transcript.OK:
			if answer != numbered(name, 0, 40) {
				t.Errorf("%s is ok and has %d bytes", name, len(answer))
			}
		case transcript.RecorderCrashed:
			if !strings.HasPrefix(numbered(name, 0, 40), answer) || r.EndedAt.Before(r.StartedAt) || r.Error == nil {
				t.Errorf("%s: %q", name, answer)
			}
		default:
			t.Errorf("%s: %s", name, r.Outcome)
		}
		if request := body(t, r.Request); !strings.HasPrefix(numbered(name, 0, 800), request) {
			t.Errorf("%s: request differs", name)
		}
		if r.EndedAt.Before(last) {
			t.Errorf("%s is out of order", name)
		}
		last = r.EndedAt
		if err := r.Release(); err != nil {
			t.Error(err)
		}
	}
	return recovered
}

func TestSpool_LeavesOthersAlone(t *testing.T) {
	up, _ := okUpstream(t)
	g := newRig(t, up)
	_, _ = http.Get(g.url + "/v1/models")
	other, err := spool.Open(g.dir, spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range other.Leftovers() {
		t.Error("took over a record of a live process: ", r, err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if r := g.next(); r.Status != 200 {
		t.Error(r.Status)
	}
}

// What is not released when the spool is closed is there at the next start;
// a folder whose records are all released is not.
func TestSpool_CloseLeavesWhatIsNotReleased(t *testing.T) {
	up, _ := okUpstream(t)
	for _, release := range []bool{true, false} {
		g := newRig(t, up)
		for range 3 {
			_, _ = http.Get(g.url + "/v1/models")
		}
		for range 3 {
			if r := g.next(); release {
				r.Release()
			}
		}
		g.proxy.Close()
		if err := g.spool.Close(); err != nil {
			t.Error(err)
		}
		if _, err := g.spool.Next(context.Background()); err != spool.ErrClosed {
			t.Error(err)
		}
		next, err := spool.Open(g.dir, spool.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for r, err := range next.Leftovers() {
			if err != nil || r.Outcome != transcript.OK || body(t, r.Response) != "GET /v1/models" {
				t.Error(r, err)
			}
			r.Release()
			n++
		}
		if want := map[bool]int{true: 0, false: 3}[release]; n != want {
			t.Errorf("%d leftovers, want %d", n, want)
		}
		next.Close()
		if folders, _ := filepath.Glob(filepath.Join(g.dir, "*")); len(folders) != 0 {
			t.Error(folders)
		}
	}
}
