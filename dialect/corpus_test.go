package dialect

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// The corpus is recorded traffic of many vendors with expectations that were
// derived without this project. RETAKE_CORPUS names its folder; the tests are
// skipped where there is none.

type corpusCase struct {
	key  string // file#index
	want corpusWant
	wire *api.Wire
}

type corpusWant struct {
	I                int    `json:"i"`
	Family           string `json:"family"`
	Stream           string `json:"stream"`
	Depth            string `json:"depth"`
	Model            string `json:"model"`
	ModelFromRequest bool   `json:"model_from_request"`
	ResponseID       string `json:"response_id"`
	Finish           any    `json:"finish"`
	TextSHA          string `json:"text_sha256"`
	ReasoningSHA     string `json:"reasoning_sha256"`
	ToolCalls        *[]struct {
		ID        string  `json:"id"`
		Name      string  `json:"name"`
		Arguments *string `json:"arguments"`
		Canon     *string `json:"canon"`
		Choice    int     `json:"choice"`
	} `json:"tool_calls"`
	ToolResults *[]*string `json:"tool_results"`
	Usage       *struct {
		Input, Output, Cached *int64
		CacheWrite            *int64 `json:"cache_write"`
		Reasoning             *int64
		Raw                   json.RawMessage
	} `json:"usage"`
	Error *struct {
		Type     *any `json:"type"`
		InStream bool `json:"in_stream"`
	} `json:"error"`
	SSE *struct {
		Events   int  `json:"events"`
		Comments int  `json:"comments"`
		Done     bool `json:"done"`
		Tail     bool `json:"trailing_unterminated"`
	} `json:"sse"`
}

type corpusMessage struct {
	Method  string         `json:"method"`
	URL     string         `json:"url"`
	Status  int            `json:"status"`
	Headers map[string]any `json:"headers"`
	Body    *string        `json:"body"`
	BodyB64 *string        `json:"body_b64"`
}

func (m *corpusMessage) bytes() []byte {
	switch {
	case m == nil:
	case m.Body != nil:
		return []byte(*m.Body)
	case m.BodyB64 != nil:
		b, _ := base64.StdEncoding.DecodeString(*m.BodyB64)
		return b
	}
	return nil
}

func (m *corpusMessage) header() map[string][]string {
	h := map[string][]string{}
	for name, v := range m.Headers {
		switch v := v.(type) {
		case string:
			h[name] = []string{v}
		case []any:
			for _, s := range v {
				h[name] = append(h[name], fmt.Sprint(s))
			}
		}
	}
	return h
}

// corpusCases reads the exchanges that the conformance run replays, of every
// family; with decoded bodies.
func corpusCases(tb testing.TB) []corpusCase {
	dir := os.Getenv("RETAKE_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpus")
	}
	f, err := os.Open(filepath.Join(dir, "EXPECT.jsonl"))
	if err != nil {
		tb.Skipf("SKIPPED: no corpus (set RETAKE_CORPUS to its folder): %v", err)
	}
	defer f.Close()
	var out []corpusCase
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			out = append(out, corpusFile(tb, dir, line)...)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if len(out) == 0 {
		tb.Fatal("no case found in the corpus")
	}
	return out
}

func corpusFile(tb testing.TB, dir string, line []byte) (out []corpusCase) {
	var row struct {
		File      string
		Exchanges []corpusWant
	}
	if err := json.Unmarshal(line, &row); err != nil {
		tb.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, row.File))
	if os.IsNotExist(err) {
		return nil
	}
	var cassette struct {
		Exchanges []struct {
			Request, Response *corpusMessage
			WS                json.RawMessage `json:"ws_messages"`
		}
	}
	if err := json.Unmarshal(raw, &cassette); err != nil {
		tb.Fatalf("%s: %v", row.File, err)
	}
	for _, want := range row.Exchanges {
		x := cassette.Exchanges[want.I]
		if len(x.WS) > 0 && string(x.WS) != "null" || x.Response == nil || x.Request.Method == "" || want.Stream == "aws-eventstream" {
			continue
		}
		w := &api.Wire{Method: strings.ToUpper(x.Request.Method), URL: x.Request.URL, Status: x.Response.Status,
			RequestHeader: x.Request.header(), ResponseHeader: x.Response.header()}
		w.Request, _ = Text(api.Header(w.RequestHeader, "Content-Encoding"), x.Request.bytes(), 0)
		w.Response, _ = Text(api.Header(w.ResponseHeader, "Content-Encoding"), x.Response.bytes(), 0)
		out = append(out, corpusCase{key: fmt.Sprintf("%s#%d", row.File, want.I), want: want, wire: w})
	}
	return out
}

type tally struct {
	total, wrong map[string]int
	details      []string
}

func (c *tally) check(key, field string, want, got any) {
	c.total[field]++
	if fmt.Sprint(want) != fmt.Sprint(got) {
		c.wrong[field]++
		c.details = append(c.details, fmt.Sprintf("%s: %s: want %.200s, got %.200s", field, key, fmt.Sprint(want), fmt.Sprint(got)))
	}
}

var corpusDialects = map[string]transcript.Dialect{
	"openai.chat": transcript.Chat, "openai.responses": transcript.Responses, "anthropic.messages": transcript.Messages}

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestCorpus_DecodesAsExpected(t *testing.T) {
	c := &tally{total: map[string]int{}, wrong: map[string]int{}}
	n := 0
	for _, x := range corpusCases(t) {
		d := Recognise(x.wire)
		want, known := corpusDialects[x.want.Family]
		if !known {
			if x.want.Family == "openai.responses.other" || x.want.Family == "other" {
				continue // compact and retrieve; unnamed APIs that speak a known dialect
			}
			c.check(x.key+" "+x.want.Family, "other dialect", transcript.Unknown, d)
			continue
		}
		n++
		c.check(x.key+" "+x.wire.URL, "dialect", want, d)
		if x.want.Depth == "full" {
			compareCorpus(c, x, Decode(d, x.wire))
		}
	}
	fields := make([]string, 0, len(c.total))
	for f := range c.total {
		fields = append(fields, f)
	}
	sort.Strings(fields)
	for _, f := range fields {
		share := 1 - float64(c.wrong[f])/float64(c.total[f])
		t.Logf("%8.2f%% of %5d  %s", 100*share, c.total[f], f)
		if share < 0.995 {
			t.Errorf("%s holds in %.2f%%, which is under 99.5%%", f, 100*share)
		}
	}
	for _, d := range c.details {
		t.Log(d)
	}
	t.Logf("%d exchanges", n)
}

func compareCorpus(c *tally, x corpusCase, turn *transcript.Turn) {
	want := x.want
	check := func(field string, expected, found any) { c.check(x.key, field, expected, found) }
	if want.Model != "" && !want.ModelFromRequest {
		check("response_model", want.Model, turn.ResponseModel)
	}
	if want.ResponseID != "" {
		check("(response id)", want.ResponseID, turn.ResponseID)
	}
	if want.Finish != nil {
		check("finish_reason", want.Finish, turn.FinishReason)
	}
	if want.TextSHA != "" {
		check("text", want.TextSHA, sha(turn.Text))
	}
	if want.ReasoningSHA != "" {
		text := ""
		for _, it := range turn.Output {
			if it.Kind == transcript.Reasoning && it.Choice == 0 {
				text += it.Text
			}
		}
		check("(reasoning)", want.ReasoningSHA, sha(text))
	}
	if want.ToolCalls != nil {
		compareCalls(check, want, turn)
	}
	if want.ToolResults != nil {
		var ids, got []string
		for _, id := range *want.ToolResults {
			if id == nil {
				ids = append(ids, "")
			} else {
				ids = append(ids, *id)
			}
		}
		for _, it := range turn.Input {
			if it.Kind == transcript.ToolResult && (want.Family == "openai.responses" || !it.ServerSide) {
				got = append(got, it.CallID)
			}
		}
		check("tool_results", ids, got)
	}
	compareUsage(check, want, turn)
	if want.Error != nil {
		check("error recorded", true, turn.Error != nil)
		if want.Error.Type != nil && turn.Error != nil {
			check("error.type", *want.Error.Type, turn.Error.Type)
		}
	}
	if want.SSE != nil {
		check("(events)", want.SSE.Events, turn.Events)
	}
}

func compareCalls(check func(string, any, any), want corpusWant, turn *transcript.Turn) {
	choices := false
	for _, w := range *want.ToolCalls {
		choices = choices || w.Choice != 0
	}
	var calls []transcript.Item
	for _, it := range turn.Output {
		if it.Kind == transcript.ToolCall && !it.ServerSide && (choices || it.Choice == 0) {
			calls = append(calls, it)
		}
	}
	check("tool_call count", len(*want.ToolCalls), len(calls))
	for i, w := range *want.ToolCalls {
		if i >= len(calls) {
			break
		}
		if w.ID != "" {
			check("tool_call id", w.ID, calls[i].CallID)
		}
		if w.Name != "" {
			check("tool_call name", w.Name, calls[i].Name)
		}
		switch {
		case w.Arguments != nil:
			check("tool_call arguments", *w.Arguments, calls[i].ArgumentsRaw)
		case w.Canon != nil:
			want, _ := rawjson.Canonical([]byte(*w.Canon))
			got, _ := rawjson.Canonical([]byte(calls[i].ArgumentsRaw))
			check("tool_call arguments", string(want), string(got))
		}
	}
}

func compareUsage(check func(string, any, any), want corpusWant, turn *transcript.Turn) {
	if want.Usage == nil {
		return
	}
	u, have := want.Usage, transcript.Usage{}
	if turn.Usage != nil {
		have = *turn.Usage
	}
	val := func(p *int64) int64 {
		if p == nil {
			return 0
		}
		return *p
	}
	if u.Input != nil {
		total := *u.Input
		if want.Family == "anthropic.messages" {
			total += val(u.Cached) + val(u.CacheWrite)
		}
		check("usage.input_total", total, have.InputTotal)
	}
	if u.Output != nil {
		check("usage.output", *u.Output, have.Output)
	}
	if val(u.Cached) != 0 {
		check("usage.cache_read", *u.Cached, have.CacheRead)
	}
	if val(u.CacheWrite) != 0 {
		check("(usage.cache_write)", *u.CacheWrite, have.CacheWrite)
	}
	if val(u.Reasoning) != 0 {
		check("(usage.reasoning)", *u.Reasoning, have.Reasoning)
	}
	check("(usage raw)", floats(u.Raw), floats(turn.UsageRaw))
}

// floats gives a value whose numbers went through a float, as those of the
// expectations did.
func floats(raw []byte) any {
	var v any
	_ = json.Unmarshal(raw, &v)
	return v
}

// What is true of every exchange, whatever it says.
func TestCorpus_EveryExchangeKeepsThePromises(t *testing.T) {
	results := 0
	for _, x := range corpusCases(t) {
		d := Recognise(x.wire)
		checkSplit(t, d, x.wire.Request)
		checkSplit(t, d, x.wire.Response)
		turn := Decode(d, x.wire)
		checkTurn(t, x.wire, turn)
		half := *x.wire
		half.Response = half.Response[:len(half.Response)/2]
		checkTurn(t, &half, Decode(d, &half))
		for _, it := range turn.Input {
			if it.Kind != transcript.ToolResult {
				continue
			}
			results++
			checkResult(t, x, d, it)
		}
	}
	if results == 0 {
		t.Fatal("no tool result found")
	}
	t.Logf("%d tool results edited", results)
}

func checkResult(t *testing.T, x corpusCase, d transcript.Dialect, it transcript.Item) {
	t.Helper()
	body := x.wire.Request
	if same, err := SetResultAt(d, body, it.At, it.Text); err != nil || len(it.Parts) == 0 && it.Text != "" && !bytes.Equal(same, body) {
		t.Errorf("%s %s: the same text again changes the body (%v)", x.key, it.At, err)
	}
	got, err := SetResultAt(d, body, it.At, "another \"result\"\n")
	if err != nil {
		t.Fatalf("%s %s: %v", x.key, it.At, err)
	}
	checkOneChange(t, d, body, got, it.CallID, "another \"result\"\n")
}
