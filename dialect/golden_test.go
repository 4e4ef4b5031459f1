package dialect

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

var update = flag.Bool("update", false, "rewrite want.json")

// goldenCase is a folder testdata/<dialect>/<case> with request.json and
// response.sse or response.json; want.json is the Turn.
type goldenCase struct {
	name, dir string
	dialect   transcript.Dialect
	wire      *api.Wire
}

func goldenCases(tb testing.TB) []goldenCase {
	paths := map[transcript.Dialect]string{transcript.Chat: "/v1/chat/completions", transcript.Responses: "/v1/responses", transcript.Messages: "/v1/messages"}
	var out []goldenCase
	for d, path := range paths {
		dirs, _ := filepath.Glob(filepath.Join("testdata", string(d), "*"))
		if len(dirs) == 0 {
			tb.Fatalf("no case found in testdata/%s", d)
		}
		for _, dir := range dirs {
			w := &api.Wire{Method: "POST", URL: path, Status: 200, Request: read(tb, dir, "request.json")}
			if b, err := os.ReadFile(filepath.Join(dir, "status")); err == nil {
				if err := json.Unmarshal(b, &w.Status); err != nil {
					tb.Fatal(err)
				}
			}
			kind := "text/event-stream"
			b, err := os.ReadFile(filepath.Join(dir, "response.sse"))
			if err != nil {
				kind, b = "application/json", read(tb, dir, "response.json")
			}
			w.Response, w.ResponseHeader = b, map[string][]string{"Content-Type": {kind}}
			out = append(out, goldenCase{filepath.Join(string(d), filepath.Base(dir)), dir, d, w})
		}
	}
	return out
}

// goldenTurn is a Turn as want.json shows it.
type goldenTurn struct {
	*transcript.Turn
	Input, Output []goldenItem
}

type goldenItem struct {
	transcript.Item
	Parts int `json:"parts,omitempty"` // how many; the hashes say nothing to a reader
}

func goldenItems(items []transcript.Item) (out []goldenItem) {
	for _, it := range items {
		out = append(out, goldenItem{it, len(it.Parts)})
	}
	return out
}

func TestDecode(t *testing.T) {
	for _, c := range goldenCases(t) {
		t.Run(c.name, func(t *testing.T) {
			if d := Recognise(c.wire); d != c.dialect {
				t.Errorf("recognised as %s", d)
			}
			turn := Decode(c.dialect, c.wire)
			checkTurn(t, c.wire, turn)
			var out bytes.Buffer
			enc := json.NewEncoder(&out)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(goldenTurn{turn, goldenItems(turn.Input), goldenItems(turn.Output)}); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(c.dir, "want.json")
			if *update {
				if err := os.WriteFile(name, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(read(t, name)), out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// checkTurn holds what is true of every Turn: what it calls JSON is JSON, and
// each item stands where its At says.
func checkTurn(tb testing.TB, w *api.Wire, turn *transcript.Turn) {
	tb.Helper()
	if len(turn.Response) > 0 && !json.Valid(turn.Response) {
		tb.Errorf("the response object is not JSON: %.300q", turn.Response)
	}
	for side, items := range map[string][]transcript.Item{"request": turn.Input, "response": turn.Output} {
		body := turn.Response
		if side == "request" {
			body, _, _ = rawjson.Mend(bytes.TrimPrefix(w.Request, []byte("\xef\xbb\xbf")))
		}
		for _, it := range items {
			if !json.Valid(it.Raw) || it.Arguments != nil && !json.Valid(it.Arguments) {
				tb.Fatalf("%s: not JSON: %.200q, arguments %.200q", it.At, it.Raw, it.Arguments)
			}
			at, err := rawjson.Locate(body, it.At)
			if err != nil || !bytes.Equal(body[at.Start:at.End], it.Raw) {
				if !duplicateMembers(body) {
					tb.Fatalf("%s %s (%v): there is %.200q, but the item is %.200q", side, it.At, err, body[at.Start:at.End], it.Raw)
				}
			}
		}
	}
}

// duplicateMembers tells whether an object names a member twice, which makes
// a pointer into it ambiguous.
func duplicateMembers(body []byte) bool {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return false
	}
	canon, err := json.Marshal(v)
	return err == nil && bytes.Count(canon, []byte(":")) < bytes.Count(body, []byte(":"))
}

// A stream that breaks off anywhere gives what had come: the text of the cut
// is the beginning of the text, and no call changes its name or id.
func TestDecode_ACutStreamIsAPrefix(t *testing.T) {
	for _, c := range goldenCases(t) {
		if bytes.Contains(c.wire.Response, []byte("message_start\"")) && bytes.Count(c.wire.Response, []byte(`"message_start"`)) > 1 {
			continue // begins again, so that a cut may hold more
		}
		whole := Decode(c.dialect, c.wire)
		if !whole.Stream {
			continue
		}
		for i := 0; i < len(c.wire.Response); i += stride(c.wire.Response) {
			w := *c.wire
			w.Response = w.Response[:i]
			cut := Decode(c.dialect, &w)
			checkTurn(t, &w, cut)
			if !strings.HasPrefix(whole.Text, cut.Text) {
				t.Fatalf("%s cut at %d: text %q is no beginning of %q", c.name, i, cut.Text, whole.Text)
			}
			if cut.Complete && (!whole.Complete || cut.Text != whole.Text) {
				t.Fatalf("%s cut at %d is complete", c.name, i)
			}
			if len(cut.Output) > len(whole.Output) || cut.Events > whole.Events {
				t.Fatalf("%s cut at %d: %d items and %d events, of the whole %d and %d", c.name, i, len(cut.Output), cut.Events, len(whole.Output), whole.Events)
			}
			if cut.FirstContentAt >= 0 && cut.FirstContentAt != whole.FirstContentAt && cut.FirstContentAt != int64(i) {
				t.Fatalf("%s cut at %d: first content at %d, not %d", c.name, i, cut.FirstContentAt, whole.FirstContentAt)
			}
		}
	}
}

// An answer without streaming that breaks off is read up to the cut.
func TestDecode_ACutBodyIsAPrefix(t *testing.T) {
	for _, c := range goldenCases(t) {
		whole := Decode(c.dialect, c.wire)
		for i := 0; i < len(c.wire.Request); i += stride(c.wire.Request) {
			w := api.Wire{Method: "POST", URL: c.wire.URL, Request: c.wire.Request[:i]}
			cut := Decode(c.dialect, &w)
			checkTurn(t, &w, cut)
			if len(cut.Input) > len(whole.Input)+1 {
				t.Fatalf("%s: request cut at %d holds %d items, the whole %d", c.name, i, len(cut.Input), len(whole.Input))
			}
		}
		if whole.Stream {
			continue
		}
		for i := range c.wire.Response {
			w := *c.wire
			w.Response = w.Response[:i]
			cut := Decode(c.dialect, &w)
			checkTurn(t, &w, cut)
			if cut.Complete && len(bytes.TrimSpace(c.wire.Response)) > i || !strings.HasPrefix(whole.Text, cut.Text) {
				t.Fatalf("%s cut at %d: complete %v, text %q", c.name, i, cut.Complete, cut.Text)
			}
		}
	}
}

// A folder with both response.json and a sibling of the same name ending in
// _streamed is one answer in both forms: they must decode alike.
func TestDecode_StreamedAndWholeAreTheSameTurn(t *testing.T) {
	cases := map[string]goldenCase{}
	for _, c := range goldenCases(t) {
		cases[c.name] = c
	}
	n := 0
	for name, c := range cases {
		twin, ok := cases[name+"_streamed"]
		if !ok {
			continue
		}
		n++
		a, b := Decode(c.dialect, c.wire), Decode(twin.dialect, twin.wire)
		if !b.Stream || a.Stream {
			t.Errorf("%s: the streamed twin is not streamed", name)
		}
		for _, turn := range []*transcript.Turn{a, b} {
			turn.Stream, turn.Events, turn.FirstContentAt, turn.Response, turn.Input = false, 0, 0, nil, nil
			delete(turn.Parameters, "stream")
			delete(turn.Parameters, "stream_options")
			turn.UsageRaw = canonical(t, turn.UsageRaw)
			for i := range turn.Output {
				turn.Output[i].Raw = nil
			}
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if n == 0 {
		t.Fatal("no twins found")
	}
}

func canonical(t *testing.T, raw []byte) []byte {
	if len(raw) == 0 {
		return nil
	}
	c, err := rawjson.Canonical(raw)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
