package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// hostileTexts are texts as they stand in JSON, each with what a search for it
// looks for.
var hostileTexts = map[string]hostile{
	"NUL":             {`before nul\u0000after done-nul`, "after done-nul"},
	"controls":        {`bell\u0007 escape\u001b[31mred\u001b[0m \u009b2J c1 \u007f done-controls`, "done-controls"},
	"lone surrogates": {`high \ud83d low \ude00 swapped \ude00\ud83d done-surrogates`, "done-surrogates"},
	"pair":            {`smile \ud83d\ude00 done-pair`, "😀 done-pair"},
	"raw controls":    {"bell \a escape \x1b[31m \u009b2J \x7f line\r\n done-raw", "done-raw"},
	"raw bytes":       {"raw \xff\xfe\x80 bytes \xed\xa0\xbd done-bytes", "done-bytes"},
	"directions":      {"\u202egnp.exe\u202c \u2066x\u2069 done-directions", "done-directions"},
	"combining":       {"a" + strings.Repeat("\u0301", 3000) + " done-combining", "done-combining"},
	"long line":       {strings.Repeat("0123456789 abcdef ", 3<<20/18) + "done-line", "done-line"},
	"long word":       {strings.Repeat("xyzzy", 1<<20/5) + "done-word", "done-word"},
}

type hostile struct{ text, find string }

// shown is what is shown of it: of a long text the beginning.
func (h *hostile) shown() string {
	if len(h.text) > 1<<20-10 {
		return h.text[:20]
	}
	return h.find
}

// Bodies of whatever bytes are stored, verified, found, listed and shown, and
// nothing that a terminal obeys gets there.
func TestRun_OnHostileBodies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var captures []*transcript.Capture
	names := []string{""}
	for name, h := range hostileTexts {
		n := len(captures) + 1
		request := `{"model":"m","messages":[{"role":"user","content":"` + h.text + `"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"` + h.text + `"}]}`
		answer := `{"id":"a","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"` + h.text + `"},"finish_reason":"stop"}]}`
		captures = append(captures, &transcript.Capture{
			ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", n), StartedAt: time.Unix(int64(1_700_000_000+n), 0), EndedAt: time.Unix(int64(1_700_000_001+n), 0),
			Method: "POST", URL: "https://api.example.com/v1/chat/completions", Status: 200, Outcome: transcript.OK,
			RequestHeader: map[string][]string{"Content-Type": {"application/json"}, "X-Odd": {"a\x00b\x1b[2J"}}, ResponseHeader: map[string][]string{"Content-Type": {"application/json"}},
			Request: fileBody(request), Response: fileBody(answer),
		})
		names = append(names, name)
	}
	if _, err := ingest.Commit(t.Context(), db, captures); err != nil {
		t.Fatal(err)
	}
	commands := func(indexed string) {
		mustRun(t, indexed+" verify", "0 problems", path, "verify")
		if out := mustRun(t, indexed+" ls", "x1", path, "ls", "--exchanges"); strings.Count(out, "\n") != len(captures)+1 {
			t.Errorf("%s: ls prints %d lines", indexed, strings.Count(out, "\n"))
		}
		for n := 1; n < len(names); n++ {
			if indexed != "indexed:" && names[n] != "NUL" && names[n] != "long line" {
				continue // each search reads all
			}
			h, ref := hostileTexts[names[n]], fmt.Sprintf("x%d", n)
			what := indexed + " " + names[n]
			if out := mustRun(t, what, "«", path, "search", h.find); strings.Count(out, "\n"+ref+"\t") != 3 {
				t.Errorf("%s: %q is not found three times in %s:\n%.1000s", what, h.find, ref, out)
			}
			mustRun(t, what, h.shown(), path, "show", ref)
			for _, args := range [][]string{{"show", ref, "--json"}, {"search", h.find, "--json"}, {"export", ref, "--format", "jsonl"}} {
				if out := mustRun(t, what, `"`, path, args...); !json.Valid([]byte(out)) || !utf8.ValidString(out) {
					t.Errorf("%s: %v prints no JSON in UTF-8", what, args)
				}
			}
			request, err := captures[n-1].Request.Open()
			if err != nil {
				t.Fatal(err)
			}
			var sent bytes.Buffer
			_, _ = sent.ReadFrom(request)
			if out := runOn(t, path, "export", ref, "--format", "raw-request"); out != sent.String() {
				t.Errorf("%s: the request comes back changed", what)
			}
		}
	}
	commands("not indexed:")
	if _, err := ingest.Index(context.Background(), db); err != nil && !errors.Is(err, transcript.ErrNoIndex) {
		t.Fatal(err)
	}
	commands("indexed:")
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// runOn runs a command as in a pipe.
func runOn(t *testing.T, db string, args ...string) string {
	t.Helper()
	var out, said bytes.Buffer
	getenv := func(string) string { return "" }
	if code := run(t.Context(), append(args, "--db", db), console{in: strings.NewReader(""), out: &out, err: &said, getenv: getenv}); code != exitOK {
		t.Errorf("inspect %s: status %d, %s", strings.Join(args, " "), code, said.String())
	}
	return out.String()
}

// mustRun runs a command whose output must hold a text and nothing that a
// terminal obeys.
func mustRun(t *testing.T, what, want, db string, args ...string) string {
	t.Helper()
	out := runOn(t, db, args...)
	if !strings.Contains(out, want) {
		t.Errorf("%s: inspect %v does not print %q:\n%.2000s", what, args, want, out)
	}
	for _, r := range out {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("%s: inspect %v prints %U", what, args, r)
			break
		}
	}
	return out
}
