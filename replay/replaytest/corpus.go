package replaytest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// Body is a captured body.
type Body string

// Size implements transcript.CapturedBody.
func (b Body) Size() int64 { return int64(len(b)) }

// Open implements transcript.CapturedBody.
func (b Body) Open() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(b))), nil }

type corpusMessage struct {
	Method  string
	URL     string
	Status  int
	Headers map[string]any
	Body    *string
	BodyB64 *string `json:"body_b64"`
}

func (m *corpusMessage) bytes() Body {
	switch {
	case m.Body != nil:
		return Body(*m.Body)
	case m.BodyB64 != nil:
		b, _ := base64.StdEncoding.DecodeString(*m.BodyB64)
		return Body(b)
	}
	return ""
}

// header returns what says how a body is to be read.
func (m *corpusMessage) header() http.Header {
	h := http.Header{}
	for name, v := range m.Headers {
		if name = http.CanonicalHeaderKey(name); name == "Content-Type" || name == "Content-Encoding" {
			if list, ok := v.([]any); ok && len(list) > 0 {
				v = list[0]
			}
			h.Set(name, fmt.Sprint(v))
		}
	}
	return h
}

// Corpus reads the exchanges of the files that the corpus lists. The test is
// skipped where there is no corpus; RETAKE_CORPUS names its folder.
func Corpus(t *testing.T) []*transcript.Capture {
	dir := os.Getenv("RETAKE_CORPUS")
	if dir == "" {
		dir = corpusFolder()
	}
	index, err := os.ReadFile(filepath.Join(dir, "EXPECT.jsonl"))
	if err != nil {
		t.Skipf("SKIPPED: no corpus (set RETAKE_CORPUS to its folder): %v", err)
	}
	var all []*transcript.Capture
	for _, line := range bytes.Split(bytes.TrimSpace(index), []byte("\n")) {
		var row struct{ File string }
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, row.File))
		if os.IsNotExist(err) {
			continue
		}
		var cassette struct {
			Exchanges []struct{ Request, Response *corpusMessage }
		}
		if err := json.Unmarshal(raw, &cassette); err != nil {
			t.Fatalf("%s: %v", row.File, err)
		}
		for _, x := range cassette.Exchanges {
			if x.Request == nil || x.Response == nil || x.Request.Method == "" {
				continue
			}
			at := time.Unix(int64(2*len(all)+1), 0)
			all = append(all, &transcript.Capture{ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", len(all)+1), StartedAt: at, EndedAt: at.Add(time.Second),
				Label: row.File, Method: strings.ToUpper(x.Request.Method), URL: x.Request.URL, Status: x.Response.Status, Outcome: transcript.OK,
				RequestHeader: x.Request.header(), ResponseHeader: x.Response.header(), Request: x.Request.bytes(), Response: x.Response.bytes()})
		}
	}
	if len(all) == 0 {
		t.Fatal("no case found in the corpus")
	}
	return all
}

// corpusFolder returns where the corpus lies beside the repository.
func corpusFolder() string {
	dir := ".."
	for range 4 {
		if dir = filepath.Join("..", dir); exists(filepath.Join(dir, "shared", "corpus")) {
			break
		}
	}
	return filepath.Join(dir, "shared", "corpus")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
