package formats_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

// source makes a source of a text. bad gets the numbers of what was skipped.
func source(t testing.TB, text string, bad *[]int64) *formats.Source {
	t.Helper()
	return &formats.Source{Ctx: context.Background(), Name: "test", Reader: bufio.NewReaderSize(strings.NewReader(text), 64<<10),
		Redact: redact.New(nil), Scratch: func() (formats.ScratchFile, error) { return &memory{}, nil },
		Bad: func(n int64, _ error) { *bad = append(*bad, n) }}
}

// memory is a scratch file in memory.
type memory struct{ bytes.Buffer }

func (t *memory) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(t.Bytes()).ReadAt(p, at)
}

func importer(t testing.TB, head string) *formats.Importer {
	t.Helper()
	for _, i := range formats.Importers() {
		if i.Fits([]byte(head[:min(len(head), formats.HeadBytes)])) {
			return i
		}
	}
	return nil
}

func read(t testing.TB, b transcript.CapturedBody) []byte {
	t.Helper()
	r, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(text)) != b.Size() {
		t.Errorf("a body of %d bytes says that it has %d", len(text), b.Size())
	}
	return text
}

// Every step's request is the one before with its answer and what came behind it.
func TestImport_RequestsGrowByAnswers(t *testing.T) {
	script, err := os.ReadFile("../cmd/inspect/testdata/import.txtar")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, part := range strings.Split(string(script), "\n-- ")[1:] {
		name, text, _ := strings.Cut(part, " --\n")
		i := importer(t, text)
		if i == nil {
			continue
		}
		found++
		t.Run(name, func(t *testing.T) {
			var bad []int64
			before := map[string][]transcript.Key{}
			for c, err := range i.Read(source(t, text, &bad)) {
				if err != nil {
					t.Fatal(err)
				}
				w := &dialect.Wire{Method: c.Method, URL: c.URL, RequestHeader: c.RequestHeader, ResponseHeader: c.ResponseHeader, Status: c.Status, Request: read(t, c.Request), Response: read(t, c.Response)}
				turn := dialect.Decode(dialect.Recognise(w), w)
				if turn.Dialect == transcript.Unknown || !json.Valid(w.Request) || len(turn.Warnings) > 0 {
					t.Errorf("no request of a known dialect: %s, warnings %v", w.Request, turn.Warnings)
				}
				keys := transcript.Keys(turn.Input)
				first := strings.Join(c.RequestHeader["X-Claude-Code-Agent-Id"], "") + c.Label
				if was := before[first]; len(was) > 0 && (len(was) > len(keys) || cmp.Diff(was, keys[:len(was)]) != "") && name != "tau.json" && name != "chat.jsonl" {
					t.Errorf("%s: the history before is not the beginning of this one", c.ID)
				}
				before[first] = append(keys, transcript.Keys(turn.Output)...)
				if c.Outcome != transcript.OK {
					before[first] = keys
				}
				if c.Imported == "" || c.EndedAt.Before(c.StartedAt) && !c.EndedAt.IsZero() {
					t.Errorf("%s: graded %q, from %v to %v", c.ID, c.Imported, c.StartedAt, c.EndedAt)
				}
			}
		})
	}
	if found < 10 {
		t.Errorf("only %d files are of a known format", found)
	}
}

func TestImport_KnowsItsOwnExports(t *testing.T) {
	c := readCase(t, "testdata/export/parallel")
	for name, write := range map[string]writer{"openai-chat": formats.OpenAIChat, "otlp-json": otlp} {
		var out bytes.Buffer
		if err := write(&out, c, &formats.Losses{}); err != nil {
			t.Fatal(err)
		}
		i := importer(t, out.String())
		if i == nil || i.Name != name {
			t.Fatalf("%s is taken for %v", name, i)
		}
		var bad []int64
		var last *transcript.Capture
		for c, err := range i.Read(source(t, out.String(), &bad)) {
			if err != nil {
				t.Fatal(err)
			}
			last = c
		}
		if last == nil || len(bad) > 0 {
			t.Fatal(name, last, bad)
		}
		w := &dialect.Wire{Method: "POST", URL: last.URL, Request: read(t, last.Request), Response: read(t, last.Response), Status: 200}
		turn := dialect.Decode(transcript.Chat, w)
		if turn.Text != "Oslo 4C; Bergen unavailable." || len(turn.Input) != 8 { // two of them are the system prompt and the tool
			t.Errorf("%s came back as %d items and %q:\n%s", name, len(turn.Input), turn.Text, w.Request)
		}
	}
}

func TestImport_SkipsBadLines(t *testing.T) {
	text := `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}` + "\n" + `{"messages":` + "\n\n[1]\n" + `{"messages":[{"role":"user","content":"c"},{"role":"assistant","content":"d"}]}`
	var bad []int64
	n := 0
	for _, err := range importer(t, text).Read(source(t, text, &bad)) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 2 || cmp.Diff([]int64{2, 4}, bad) != "" {
		t.Errorf("%d exchanges, bad lines %v", n, bad)
	}
}

func FuzzImport(f *testing.F) {
	script, err := os.ReadFile("../cmd/inspect/testdata/import.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, part := range strings.Split(string(script), "\n-- ")[1:] {
		_, text, _ := strings.Cut(part, " --\n")
		f.Add([]byte(text))
	}
	for _, dir := range exportCases(f) {
		for _, name := range []string{"want.har", "want.otlp-json"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, i := range formats.Importers() {
			var bad []int64
			for c, err := range i.Read(source(t, string(text), &bad)) {
				if err != nil {
					break
				}
				read(t, c.Request)
				read(t, c.Response)
				if c.ID == "" || c.Imported == "" {
					t.Errorf("%s: id %q, grade %q", i.Name, c.ID, c.Imported)
				}
			}
		}
	})
}

func FuzzArchive(f *testing.F) {
	f.Add([]byte(`{"segment":{"text":"a"}}` + "\n" + `{"exchange":{"id":"x","request":{"parts":[0,0]},"response":{"like":1,"first":1}}}`))
	f.Add([]byte(`{"exchange":{"id":"x","request":{"like":-1,"first":-5,"last":9,"parts":[-1]},"response":{}}}` + "\n" + `{"segment":{"base64":"?"}}`))
	f.Add([]byte(`{"marks":{"exchange":"a","tags":["../evil"]}}` + "\n" + `{"override":{}}` + "\n" + `{"take":{}}`))
	f.Fuzz(func(t *testing.T, lines []byte) {
		var bad []int64
		s := source(t, string(zipped(t, append([]byte("{\"retake_archive\":1}\n"), lines...))), &bad)
		err := formats.ReadArchive(s, func(c *transcript.Capture, _ formats.Linked) error {
			read(t, c.Request)
			read(t, c.Response)
			return nil
		}, func(*formats.Said) error { return nil })
		_ = err // whatever it is, nothing panics
	})
}
