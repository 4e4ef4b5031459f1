package recorder_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/transcript"
)

// What lies in memory is one frame of the record and one write; what does not, or is
// too large for a buffer, is recorded as it is read. Either way it is sent as it is.
func TestTransport_RecordsABodyInMemoryInOneWrite(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Write(b)
	}))
	defer up.Close()
	long := strings.Repeat("0123456789abcdef", 1<<16)
	for name, size := range map[string]int{"short": 1, "a piece": 32 << 10, "long": 200 << 10, "longest": 240 << 10, "too long": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			d, sent := &disk{}, long[:size]
			var mu sync.Mutex
			writes := 0
			d.set(nil, nil, func(p []byte) bool {
				mu.Lock()
				defer mu.Unlock()
				if bytes.Contains(p, []byte(sent[:min(size, 1000)])) && bytes.Contains(p, []byte("POST")) {
					writes++
				}
				return false
			})
			g := spoolOf(t, spool.Options{Create: d.create})
			client := &http.Client{Transport: recorder.NewTransport(nil, recorder.Options{Spool: g.spool})}
			for range 3 {
				writes = 0
				resp, err := client.Post(up.URL, "text/plain", strings.NewReader(sent))
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				r := g.next()
				if err != nil || string(got) != sent || body(t, r.Request) != sent || body(t, r.Response) != sent || r.Outcome != transcript.OK || r.Lossy {
					t.Errorf("%d bytes came back, %d and %d are on record, %v %v", len(got), r.Request.Size(), r.Response.Size(), r.Outcome, err)
				}
				r.Release()
				if one := size <= 240<<10; one != (writes == 1) {
					t.Errorf("%d writes hold the head and the body", writes)
				}
			}
		})
	}
}

// A write of the request that stalls is given up, and the whole body is sent though
// that write has not done with it.
func TestTransport_SendsABodyWhoseWriteStalls(t *testing.T) {
	var got string
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = string(b)
	}))
	defer up.Close()
	d := &disk{}
	g := spoolOf(t, spool.Options{Create: d.create})
	gate := make(chan struct{})
	defer close(gate)
	d.set(gate, nil, func(p []byte) bool { return bytes.Contains(p, []byte("hanging")) })
	client := &http.Client{Transport: recorder.NewTransport(nil, recorder.Options{Spool: g.spool})}
	for _, text := range []string{"hanging ", "another "} {
		sent := strings.Repeat(text, 10_000)
		resp, err := client.Post(up.URL, "", strings.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got != sent {
			t.Errorf("%d of %d bytes were sent", len(got), len(sent))
		}
	}
	if r := g.next(); r.Lossy || !strings.HasPrefix(body(t, r.Request), "another ") {
		t.Errorf("lossy %v %q", r.Lossy, body(t, r.Request)[:20])
	}
}

// An upstream may answer before it has read the request, which is on record then, and
// a body may be shorter than it was said to be.
func TestTransport_RecordsWhatIsNotSentToItsEnd(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(413)
	}))
	defer up.Close()
	g := spoolOf(t, spool.Options{})
	transport := recorder.NewTransport(nil, recorder.Options{Spool: g.spool})
	sent := strings.Repeat("x", 200_000)
	resp, err := (&http.Client{Transport: transport}).Post(up.URL, "", strings.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if r := g.next(); r.Status != 413 || body(t, r.Request) != sent {
		t.Errorf("status %d, %d bytes", r.Status, r.Request.Size())
	}
	short, _ := http.NewRequest("POST", up.URL, strings.NewReader("abc"))
	short.ContentLength = 5
	if _, err := transport.RoundTrip(short); err == nil {
		t.Error("a body that was too short was sent")
	}
	if r := g.next(); r.Outcome != transcript.UpstreamReset || body(t, r.Request) != "abc" {
		t.Errorf("%v %q", r.Outcome, body(t, r.Request))
	}
}
