package dialect

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/retake-debugger/retake/dialect/api"
)

// readSSE feeds body in pieces that end at the cuts.
func readSSE(body []byte, cuts ...int) (events []string, s *api.SSE) {
	s = &api.SSE{}
	take := func(e api.Event) {
		mark := ""
		if e.Unterminated {
			mark = " unterminated"
		}
		events = append(events, fmt.Sprintf("%s|%s|%d%s", e.Name, e.Data, e.End, mark))
	}
	from := 0
	for _, c := range append(cuts, len(body)) {
		piece := append([]byte(nil), body[from:c]...)
		s.Feed(piece, take)
		for i := range piece { // the piece's memory is given back
			piece[i] = 'X'
		}
		from = c
	}
	s.Close(take)
	return events, s
}

var sseCases = []struct {
	name, body string
	want       []string
	comments   int
}{
	{"lf", "data: a\n\ndata:b\n\n", []string{"|a|9", "|b|17"}, 0},
	{"crlf", "data: a\r\n\r\nevent: x\r\ndata: b\r\n\r\n", []string{"|a|11", "x|b|32"}, 0},
	{"cr", "data: a\r\rdata: b\r\r", []string{"|a|9", "|b|18"}, 0},
	{"two data lines are one event", "data: {\"a\":\ndata: 1}\n\n", []string{"|{\"a\":\n1}|22"}, 0},
	{"comments are no events", ": OPENROUTER PROCESSING\n\n: x\ndata: a\n\n", []string{"|a|38"}, 2},
	{"an event without data is none", "event: ping\n\ndata: a\n\n", []string{"|a|22"}, 0},
	{"an empty data line is an event", "data:\n\ndata\n\n", []string{"||7", "||13"}, 0},
	{"only one blank is dropped", "data:  a \n\n", []string{"| a |11"}, 0},
	{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []string{"|a|12"}, 0},
	{"id and retry are not data", "id: 7\nretry: 10\ndata: a\n\n", []string{"|a|25"}, 0},
	{"no blank line at the end", "data: a\n\ndata: b\n", []string{"|a|9", "|b|17 unterminated"}, 0},
	{"no line end at the end", "data: a\n\ndata: b", []string{"|a|9", "|b|16 unterminated"}, 0},
	{"nothing", "", nil, 0},
}

func TestSSE_ReadsEveryFraming(t *testing.T) {
	for _, c := range sseCases {
		got, s := readSSE([]byte(c.body))
		if diff := cmp.Diff(c.want, got); diff != "" || s.Comments != c.comments {
			t.Errorf("%s: comments %d, events %s", c.name, s.Comments, diff)
		}
	}
}

// The same bytes give the same events however they are cut. An event's end
// behind CRLF is the exception: a cut between CR and LF ends it one byte
// before the LF, which has not come yet.
func TestSSE_AnyChunking(t *testing.T) {
	bodies := map[string][]byte{}
	for _, c := range sseCases {
		bodies[c.name] = []byte(c.body)
	}
	files, _ := filepath.Glob("testdata/*/*/response.sse")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		bodies[f] = b
	}
	if len(files) == 0 {
		t.Fatal("no stream in testdata")
	}
	for name, b := range bodies {
		want, s := readSSE(b)
		every := make([]int, len(b))
		for i := range b {
			every[i] = i
			if i%stride(b) != 0 {
				continue
			}
			got, cut := readSSE(b, i)
			if !slices.Equal(plainEnds(want, b), plainEnds(got, b)) || cut.Comments != s.Comments {
				t.Fatalf("%s cut at %d: %s", name, i, cmp.Diff(want, got))
			}
		}
		if got, _ := readSSE(b, every...); cmp.Diff(plainEnds(want, b), plainEnds(got, b)) != "" {
			t.Errorf("%s read byte by byte: %v", name, got)
		}
	}
}

// stride is 1, so that short bodies are cut at every byte, and more for the
// long ones, whose events are all alike.
func stride(body []byte) int { return 1 + len(body)/2500*3 }

// plainEnds drops the offsets where the body holds a CR.
func plainEnds(events []string, body []byte) []string {
	if !bytes.ContainsRune(body, '\r') {
		return events
	}
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = e[:bytes.LastIndexByte([]byte(e), '|')]
	}
	return out
}

func FuzzSSE(f *testing.F) {
	for i, c := range sseCases {
		f.Add([]byte(c.body), i, 3*i)
	}
	f.Fuzz(func(t *testing.T, b []byte, i, j int) {
		i, j = min(max(i, 0), len(b)), min(max(j, 0), len(b))
		want, s := readSSE(b)
		got, cut := readSSE(b, min(i, j), max(i, j))
		if diff := cmp.Diff(plainEnds(want, b), plainEnds(got, b)); diff != "" || s.Comments != cut.Comments || s.Strange != cut.Strange {
			t.Fatalf("cut at %d and %d: %s", i, j, diff)
		}
	})
}
