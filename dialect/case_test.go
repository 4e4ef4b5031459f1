package dialect

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/transcript"
)

// The cases are situations that went wrong for users of other tools, each with
// its expect.json. What a dialect decides of them is asserted here.

type caseExpect struct {
	Events      *int        `json:"events"`
	Reassembled *caseAnswer `json:"reassembled"`
	Exchange    *struct {
		Outcome  string `json:"outcome"`
		Complete *bool  `json:"complete"`
		Error    *struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	} `json:"exchange"`
	Usage     map[string]any    `json:"usage"`
	Pairs     [][2]string       `json:"pairs"`
	ByCall    map[string]string `json:"results_by_call"`
	NoResults []string          `json:"unpaired_calls"`
	NoCalls   []string          `json:"unpaired_results"`
	Counts    *struct {
		Comments int `json:"sse_comments"`
		NonJSON  int `json:"non_json_data_events"`
	} `json:"counts"`
}

type caseAnswer struct {
	Text         *string `json:"text"`
	FinishReason string  `json:"finish_reason"`
	StopReason   string  `json:"stop_reason"`
	ToolCalls    []struct {
		ID     string          `json:"id"`
		Name   string          `json:"name"`
		Raw    *string         `json:"arguments_raw"`
		Parsed json.RawMessage `json:"arguments_parsed"`
		Valid  *bool           `json:"arguments_valid"`
	} `json:"tool_calls"`
}

func read(tb testing.TB, path ...string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// caseWire loads one exchange of a case; prefix is "" or "01." and so on.
func caseWire(tb testing.TB, dir, prefix string) *api.Wire {
	name := filepath.Join(dir, prefix+"headers.json")
	if _, err := os.Stat(name); err != nil {
		name = filepath.Join(dir, "headers.json")
	}
	var h struct {
		Request  struct{ Method, Path string }
		Response struct {
			Status  int
			Headers map[string]string
		}
	}
	if err := json.Unmarshal(read(tb, name), &h); err != nil {
		tb.Fatal(err)
	}
	w := &api.Wire{Method: h.Request.Method, URL: h.Request.Path, Status: h.Response.Status, ResponseHeader: map[string][]string{}}
	for n, v := range h.Response.Headers {
		w.ResponseHeader[n] = []string{v}
	}
	w.Request = read(tb, dir, prefix+"request.json")
	for _, end := range []string{"response.sse", "response.json"} {
		if b, err := os.ReadFile(filepath.Join(dir, prefix+end)); err == nil {
			w.Response = b
		}
	}
	return w
}

func TestCases_DecodeAsExpected(t *testing.T) {
	for _, c := range []struct{ id, parts string }{
		{"D-STR-01", "01 02"}, {"D-STR-02", ""}, {"D-STR-03", ""}, {"D-STR-04", ""}, {"D-STR-05", "01 02 03"}, {"D-STR-06", "01 02 03"},
		{"D-PAIR-01", ""}, {"D-PAIR-02", ""}, {"D-PAIR-05", "01 02 03"}, {"D-USE-01", ""}, {"D-USE-02", "01 02"},
	} {
		dir := filepath.Join("testdata", "cases", c.id)
		all := map[string]json.RawMessage{}
		raw := read(t, dir, "expect.json")
		if err := json.Unmarshal(raw, &all); err != nil {
			t.Fatal(err)
		}
		parts := strings.Fields(c.parts)
		if len(parts) == 0 {
			parts, all[""] = []string{""}, raw
		}
		for _, part := range parts {
			t.Run(strings.Trim(c.id+"/"+part, "/"), func(t *testing.T) {
				var want caseExpect
				if err := json.Unmarshal(all[part], &want); err != nil {
					t.Fatal(err)
				}
				prefix := part
				if part != "" {
					prefix += "."
				}
				w := caseWire(t, dir, prefix)
				d := Recognise(w)
				if d == transcript.Unknown {
					t.Fatal("the dialect is not recognised")
				}
				checkCase(t, want, w, Decode(d, w))
			})
		}
	}
}

func checkCase(t *testing.T, want caseExpect, w *api.Wire, turn *transcript.Turn) {
	if want.Events != nil && turn.Events != *want.Events {
		t.Errorf("%d events, want %d", turn.Events, *want.Events)
	}
	if want.Reassembled != nil {
		checkAnswer(t, *want.Reassembled, turn)
	}
	if x := want.Exchange; x != nil {
		if x.Complete != nil && turn.Complete != *x.Complete {
			t.Errorf("complete is %v", turn.Complete)
		}
		if (turn.Error != nil) != (x.Outcome != "ok") {
			t.Errorf("error %v in an exchange whose outcome is %s", turn.Error, x.Outcome)
		}
		if x.Error != nil && turn.Error != nil && (turn.Error.Type != x.Error.Type || turn.Error.Message != x.Error.Message) {
			t.Errorf("error is %+v, want %+v", *turn.Error, *x.Error)
		}
	}
	if want.Usage != nil {
		checkUsage(t, want.Usage, turn.Usage)
	}
	if want.Pairs != nil {
		checkPairs(t, want, turn.Input)
	}
	if want.Counts != nil {
		_, s := readSSE(w.Response)
		if s.Comments != want.Counts.Comments {
			t.Errorf("%d comments, want %d", s.Comments, want.Counts.Comments)
		}
		if warning := fmt.Sprintf("%d data events are not JSON", want.Counts.NonJSON); !strings.Contains(strings.Join(turn.Warnings, "\n"), warning) {
			t.Errorf("no warning %q in %q", warning, turn.Warnings)
		}
	}
}

func checkAnswer(t *testing.T, want caseAnswer, turn *transcript.Turn) {
	if want.Text != nil && turn.Text != *want.Text {
		t.Errorf("text is %q, want %q", turn.Text, *want.Text)
	}
	if reason := want.FinishReason + want.StopReason; reason != "" && turn.FinishReason != reason {
		t.Errorf("finish reason is %q, want %q", turn.FinishReason, reason)
	}
	var calls []transcript.Item
	for _, it := range turn.Output {
		if it.Kind == transcript.ToolCall {
			calls = append(calls, it)
		}
	}
	if len(calls) != len(want.ToolCalls) {
		t.Fatalf("%d calls, want %d", len(calls), len(want.ToolCalls))
	}
	for i, w := range want.ToolCalls {
		got := calls[i]
		if got.CallID != w.ID || got.Name != w.Name {
			t.Errorf("call %d is %s %s, want %s %s", i, got.CallID, got.Name, w.ID, w.Name)
		}
		if w.Raw != nil && got.ArgumentsRaw != *w.Raw {
			t.Errorf("call %d has the arguments %q, want %q", i, got.ArgumentsRaw, *w.Raw)
		}
		if w.Valid != nil && (got.Arguments != nil) != *w.Valid {
			t.Errorf("call %d: arguments read as %q", i, got.Arguments)
		}
		if w.Parsed != nil && transcript.HashJSON(w.Parsed) != transcript.HashJSON(got.Arguments) {
			t.Errorf("call %d: arguments read as %s, want %s", i, got.Arguments, w.Parsed)
		}
	}
}

func checkUsage(t *testing.T, want map[string]any, got *transcript.Usage) {
	if got == nil {
		t.Fatal("no usage")
	}
	b, _ := json.Marshal(got)
	have := map[string]any{}
	_ = json.Unmarshal(b, &have)
	for name, v := range want {
		if have[name] != v {
			t.Errorf("usage %s is %v, want %v", name, have[name], v)
		}
	}
}

func checkPairs(t *testing.T, want caseExpect, items []transcript.Item) {
	var pairs [][2]string
	var noResults, noCalls []string
	for _, m := range transcript.PairItems(items) {
		switch m.State {
		case transcript.Paired:
			call, result := items[m.Call], items[m.Result]
			pairs = append(pairs, [2]string{call.At, result.At})
			if text, ok := want.ByCall[call.At]; ok && text != result.Text {
				t.Errorf("the result of %s is %q, want %q", call.At, result.Text, text)
			}
		case transcript.Unanswered:
			noResults = append(noResults, items[m.Call].At)
		case transcript.OrphanResult:
			noCalls = append(noCalls, items[m.Result].At)
		}
	}
	sorted := func(p [][2]string) map[[2]string]bool {
		m := map[[2]string]bool{}
		for _, x := range p {
			m[x] = true
		}
		return m
	}
	if diff := cmp.Diff(sorted(want.Pairs), sorted(pairs)); diff != "" {
		t.Error(diff)
	}
	if fmt.Sprint(noResults) != fmt.Sprint(want.NoResults) || fmt.Sprint(noCalls) != fmt.Sprint(want.NoCalls) {
		t.Errorf("unpaired: calls %v, results %v", noResults, noCalls)
	}
}

// D-REP-02: one result is edited, every other byte stays.
func TestCases_EditChangesOneValue(t *testing.T) {
	dir := filepath.Join("testdata", "cases", "D-REP-02")
	body := read(t, dir, "request.json")
	before := sha256.Sum256(body)
	var want struct {
		Sent     string `json:"sent_body_sha256_ideal"`
		Original string `json:"stored_original_unchanged_sha256"`
	}
	if err := json.Unmarshal(read(t, dir, "expect.json"), &want); err != nil {
		t.Fatal(err)
	}
	got, err := SetResult(transcript.Messages, body, "toolu_k", "false")
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(got)); sum != want.Sent {
		t.Errorf("sent %s\nwant %s", got, read(t, dir, "expected_request.json"))
	}
	if sum := sha256.Sum256(body); sum != before || fmt.Sprintf("%x", sum) != want.Original {
		t.Error("the original was changed")
	}
	same, err := SetResult(transcript.Messages, body, "toolu_k", "true")
	if err != nil || !bytes.Equal(same, body) {
		t.Errorf("the same text again gives %s, %v", same, err)
	}
}

func TestCases_CompressedBodiesAreReadable(t *testing.T) {
	dir := filepath.Join("testdata", "cases", "D-CAP-01")
	plain := read(t, dir, "request.json")
	if got, err := Text("zstd", read(t, dir, "request.json.zst"), 1<<20); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("zstd body reads %q, %v", got, err)
	}
	got, err := Text("zstd", read(t, dir, "02.corrupt.json.zst"), 1<<20)
	if err == nil || !bytes.HasPrefix(plain, got) {
		t.Errorf("half a zstd body reads %q, %v", got, err)
	}
	dir = filepath.Join("testdata", "cases", "D-CAP-02")
	if got, err := Text("gzip", read(t, dir, "response.sse.gz"), 0); err != nil || !bytes.Equal(got, read(t, dir, "response.sse")) {
		t.Errorf("gzip stream reads %q, %v", got, err)
	}
}
