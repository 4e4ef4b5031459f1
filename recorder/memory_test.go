package recorder_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A body of any size passes through a small process, both ways, with a length
// and without.
func TestProxy_StaysSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("relays 800 MB")
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc to read a process's size from")
	}
	const size = 200 << 20
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		w.Header().Set("X-Bytes", fmt.Sprint(n))
		if r.ContentLength > 0 {
			w.Header().Set("Content-Length", fmt.Sprint(size))
		}
		io.CopyN(w, zeros{}, size)
	}))
	defer up.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RECORDER_TEST_CHILD="+t.TempDir(), "RECORDER_TEST_UPSTREAM="+up.URL)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	lines := bufio.NewReader(out)
	base, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, lines)
	for _, length := range []int64{size, -1} {
		r, _ := http.NewRequest("POST", strings.TrimSpace(base)+"/v1/x", io.LimitReader(zeros{}, size))
		r.ContentLength = length
		r.Header.Set("X-Case", fmt.Sprint(length))
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if err != nil || n != size || resp.Header.Get("X-Bytes") != fmt.Sprint(size) {
			t.Fatal(n, err, resp.Header)
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var kb int
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatal(err)
	}
	t.Logf("resident at most %d MB", kb>>10)
	if kb > 64<<10 {
		t.Errorf("resident at most %d MB", kb>>10)
	}
}
