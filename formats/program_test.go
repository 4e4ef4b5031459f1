package formats_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/formats"
)

// seenRequest is what a stub got.
type seenRequest struct {
	method, target string
	header         http.Header
	body           string
}

func stub(t *testing.T) (*httptest.Server, <-chan seenRequest) {
	seen := make(chan seenRequest, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Header.Del("Content-Length")
		r.Header.Del("Accept-Encoding")
		seen <- seenRequest{r.Method, r.RequestURI, r.Header, string(body)}
		_, _ = io.WriteString(w, "answered")
	}))
	t.Cleanup(s.Close)
	return s, seen
}

// Each program is run against a stub and sends what was recorded, with the key
// that is in its environment.
func TestPrograms_SendTheRequestAgain(t *testing.T) {
	programs := []struct {
		name, file string
		write      func(io.Writer, *formats.Request) error
		command    []string
	}{
		{"curl", "r.sh", formats.Curl, []string{"sh", "r.sh"}},
		{"python3", "r.py", formats.Python, []string{"python3", "r.py"}},
		{"go", "r.go", formats.GoProgram, []string{"go", "run", "r.go"}},
	}
	requests := map[string]formats.Request{
		"text": {Method: "POST", URL: "/v1//chat%2Fx?a=%20b&alpha", Body: []byte("{\"it's\": \"$HOME `x` \\\\n é \u2028 %s\"}\n"),
			Header: http.Header{"Authorization": {"Bearer KEY"}, "Content-Type": {"application/json"}, "X-Two": {"a'b\"c", "$d"}, "User-Agent": {"agent/1"}}},
		"bytes":  {Method: "PUT", URL: "/v1/x?key=KEY&b", Body: []byte{0, 1, 0xff, '\n', '\n'}, Header: http.Header{"Content-Type": {"application/octet-stream"}, "Accept": {"text/event-stream"}}},
		"large":  {Method: "POST", URL: "/", Body: bytes.Repeat([]byte("0123456789abcdef"), 1<<17), Header: http.Header{"Content-Type": {"text/plain"}}},
		"nobody": {Method: "GET", URL: "/v1/models", Header: http.Header{"X-Api-Key": {"KEY"}}},
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p.name); err != nil {
			t.Log("not here, so not run:", p.name)
			continue
		}
		for name, r := range requests {
			if testing.Short() && p.name == "go" && name != "text" {
				continue
			}
			t.Run(p.name+"/"+name, func(t *testing.T) {
				s, seen := stub(t)
				want := seenRequest{r.Method, string(bytes.ReplaceAll([]byte(r.URL), []byte("KEY"), []byte("s3cret"))), http.Header{}, string(r.Body)}
				for n, values := range r.Header {
					for _, v := range values {
						want.header.Add(n, string(bytes.ReplaceAll([]byte(v), []byte("KEY"), []byte("s3cret"))))
					}
				}
				r.URL, r.Key, r.Variable = s.URL+r.URL, "KEY", "SOME_API_KEY"
				runProgram(t, p.file, p.command, func(w io.Writer) error { return p.write(w, &r) })
				got := <-seen
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(seenRequest{})); diff != "" {
					t.Errorf("sent otherwise (-recorded +sent):\n%s", diff)
				}
			})
		}
	}
}

func runProgram(t *testing.T, file string, command []string, write func(io.Writer) error) {
	t.Helper()
	dir := t.TempDir()
	var text bytes.Buffer
	if err := write(&text); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text.Bytes(), []byte("KEY ")) || bytes.Contains(text.Bytes(), []byte("s3cret")) {
		t.Errorf("the key is in the program:\n%s", text.Bytes())
	}
	if err := os.WriteFile(filepath.Join(dir, file), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Dir, c.Env = dir, append(os.Environ(), "SOME_API_KEY=s3cret", "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1", "GOFLAGS=-mod=mod")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil || string(out) != "answered" {
		t.Fatalf("%v: %q\n%s\n%.3000s", err, out, &stderr, text.Bytes())
	}
}

func TestPython_FewShotIsPython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3 here")
	}
	for _, dir := range exportCases(t) {
		c := readCase(t, dir)
		runProgram(t, "m.py", []string{"python3", "m.py"}, func(w io.Writer) error {
			if err := (formats.FewShot{As: "python"}).Write(w, c, &formats.Losses{}); err != nil {
				return err
			}
			_, err := io.WriteString(w, "assert messages[0]['role'] == 'user'\nprint('answered', end='')\n")
			return err
		})
	}
}
