package lint_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// The corpus is recorded traffic of many vendors. RETAKE_CORPUS names its
// folder; the test is skipped where there is none.

type recorded struct {
	name   string
	status int
	step   lint.Step
}

type corpusMessage struct {
	Method  string         `json:"method"`
	URL     string         `json:"url"`
	Status  int            `json:"status"`
	Headers map[string]any `json:"headers"`
	Body    *string        `json:"body"`
	BodyB64 *string        `json:"body_b64"`
}

func (m *corpusMessage) read() (header map[string][]string, body []byte) {
	header = map[string][]string{}
	encoding := ""
	for name, v := range m.Headers {
		header[name] = []string{fmt.Sprint(v)}
		if strings.EqualFold(name, "Content-Encoding") {
			encoding = fmt.Sprint(v)
		}
	}
	if m.Body != nil {
		body = []byte(*m.Body)
	} else if m.BodyB64 != nil {
		body, _ = base64.StdEncoding.DecodeString(*m.BodyB64)
	}
	body, _ = dialect.Text(encoding, body, 0)
	return header, body
}

func corpus(t *testing.T) []recorded {
	dir := os.Getenv("RETAKE_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpus")
	}
	f, err := os.Open(filepath.Join(dir, "EXPECT.jsonl"))
	if err != nil {
		t.Skipf("SKIPPED: no corpus (set RETAKE_CORPUS to its folder): %v", err)
	}
	defer f.Close()
	var all []recorded
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			all = append(all, corpusFile(t, dir, line)...)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all) == 0 {
		t.Fatal("no case found in the corpus")
	}
	return all
}

func corpusFile(t *testing.T, dir string, line []byte) (out []recorded) {
	var row struct {
		File      string
		Exchanges []struct{ I int }
	}
	if err := json.Unmarshal(line, &row); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, row.File))
	if os.IsNotExist(err) {
		return nil
	}
	var file struct {
		Exchanges []struct{ Request, Response *corpusMessage }
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	for _, x := range row.Exchanges {
		request, response := file.Exchanges[x.I].Request, file.Exchanges[x.I].Response
		if request == nil || response == nil || request.Method == "" {
			continue
		}
		w := &dialect.Wire{Method: strings.ToUpper(request.Method), URL: request.URL, Status: response.Status}
		w.RequestHeader, w.Request = request.read()
		w.ResponseHeader, w.Response = response.read()
		d := dialect.Recognise(w)
		if d == transcript.Unknown {
			continue
		}
		name := fmt.Sprintf("%s#%d", row.File, x.I)
		out = append(out, recorded{name, response.Status, lint.Step{Exchange: &transcript.Exchange{ID: name}, Turn: dialect.Decode(d, w)}})
	}
	return out
}

func TestCorpus_WhatProvidersTookHasNoError(t *testing.T) {
	taken, refused, messages := map[string]int{}, 0, 0
	for _, x := range corpus(t) {
		findings := lint.Exchange(x.step, nil)
		if x.status >= 400 {
			refused++
			said := x.step.Turn.Error.Message
			t.Logf("%d %s\n\t%.160s\n\t%s", x.status, x.name, said, list(findings))
			if forMessages(said) {
				if messages++; !lint.Bad(findings) {
					t.Errorf("%s: refused for its messages, and nothing was found: %s", x.name, said)
				}
			}
			continue
		}
		for _, f := range findings {
			taken[fmt.Sprintf("%-8s %-8s %s", f.Body, f.Severity, f.Code)]++
			if f.Severity == lint.Error && f.Body == "request" {
				t.Errorf("%s: %s %s: %s", x.name, f.Code, f.At, f.Message)
			}
		}
	}
	for _, k := range slices.Sorted(maps.Keys(taken)) {
		t.Logf("%5d  %s", taken[k], k)
	}
	t.Logf("%d refused, of these %d for their messages", refused, messages)
	if messages == 0 {
		t.Error("no request was refused for its messages")
	}
}

// forMessages tells whether a refusal is about the conversation.
func forMessages(said string) bool {
	for _, about := range []string{"messages.", "messages[", "input[", "tool output", "file type"} {
		if strings.Contains(said, about) {
			return true
		}
	}
	return false
}
