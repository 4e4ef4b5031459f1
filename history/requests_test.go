package history_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

type bodyOf []byte

func (b bodyOf) Size() int64                  { return int64(len(b)) }
func (b bodyOf) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }

type sent struct{ url, request, response string }

func stored(t *testing.T, all []sent) *store.DB {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c := new(ingest.Committer)
	for i, s := range all {
		at := time.Unix(int64(i), 0)
		_, err := c.Commit(context.Background(), db, []*transcript.Capture{{
			ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", i+1), StartedAt: at, EndedAt: at.Add(time.Second), Method: "POST", URL: s.url,
			Status: 200, Outcome: transcript.OK, Request: bodyOf(s.request), Response: bodyOf(s.response),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// samePieces holds what is read piece by piece against the whole. It gives how
// many requests were read by pieces.
func samePieces(t *testing.T, db *store.DB) (byPieces int) {
	t.Helper()
	q := history.NewReader(t.Context(), db)
	order := func(items []transcript.Item) []transcript.Item {
		items = slices.Clone(items)
		slices.SortStableFunc(items, func(a, b transcript.Item) int { return cmp.Compare(a.At, b.At) })
		return items
	}
	for e, err := range db.Exchanges(t.Context(), transcript.Filter{Oldest: true}) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := q.Request(e)
		if err != nil {
			t.Fatal(err)
		}
		if r.InSegments() {
			byPieces++
		}
		turn, err := history.Decode(t.Context(), db, e)
		if err != nil {
			t.Fatal(err)
		}
		if want, got := order(turn.Input), order(q.Items(r)); !reflect.DeepEqual(want, got) {
			t.Fatalf("x%d %s: items (-whole +pieces)\n%.4000s", e.N, e.URL, gocmp.Diff(want, got))
		}
		if r.PreviousID != turn.PreviousID {
			t.Errorf("x%d: previous %q, want %q", e.N, r.PreviousID, turn.PreviousID)
		}
		got := q.After(r, e.Link.Shared)
		for i := range got {
			if got[i].InChain() && q.At(r, got[i].At) == nil {
				t.Errorf("x%d: nothing at %s", e.N, got[i].At)
			}
		}
		keep := func(items []transcript.Item) (list []string) {
			for i := range items {
				if items[i].InChain() || items[i].Kind == transcript.Reasoning {
					list = append(list, items[i].At)
				}
			}
			return list
		}
		for n := range e.Link.InLen + 1 {
			got, want := keep(order(q.After(r, n))), keep(order(history.After(turn.Input, n)))
			if !slices.Equal(got, want) {
				t.Errorf("x%d: behind %d: %v, want %v", e.N, n, got, want)
			}
		}
	}
	return byPieces
}

func TestRequests_ByPiecesSayWhatTheWholeSays(t *testing.T) {
	const chat, responses, messages = "https://a.example/v1/chat/completions", "https://a.example/v1/responses", "https://a.example/v1/messages"
	call := `{"role":"assistant","content":null,"tool_calls":[{"id":"call_a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	user := `{"role":"user","content":"Go"}`
	tools := `"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}]`
	all := []sent{
		{chat, `{"model":"m","messages":[{"role":"system","content":"s"},` + user + `],` + tools + `}`, `{"choices":[{"message":` + call + `,"finish_reason":"tool_calls"}]}`},
		{chat, `{"model":"m","messages":[{"role":"system","content":"s"},` + user + `,` + call + `,{"role":"tool","tool_call_id":"call_a","content":"r"}],` + tools + `}`, `{}`},
		{chat, `{"model":"m",` + tools + `,"messages":[` + user + `, {"role":"assistant","content":"x"} , {"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`, `{}`},
		{chat, `{"model":"m","messages":[]}`, `{}`},
		{chat, `{"model":"m","messages":[` + user + `],"metadata":{"messages":[1,2]},"functions":[{"name":"old"}]}`, `{}`},
		{responses, `{"model":"m","instructions":"Be brief.","input":"hello"}`, `{}`},
		{responses, `{"model":"m","input":[{"role":"user","content":"a"},{"type":"reasoning","id":"rs_1","summary":[]},{"type":"message","role":"assistant","content":[]}],"previous_response_id":"resp_1","instructions":"x"}`, `{}`},
		{messages, `{"model":"m","system":[{"type":"text","text":"one"},{"type":"text","text":"two","cache_control":{"type":"ephemeral"}}],"messages":[` + user + `,{"role":"assistant","content":"y"}, {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"z"}]}],"tools":[{"name":"f","input_schema":{}}]}`, `{}`},
		{messages, `{"metadata":{"n":2},"model":"m","system":"S","messages":[` + user + `,{"role":"assistant","content":[{"type":"text","text":"y","cache_control":{"type":"ephemeral"}}]}]}`, `{}`},
		{messages, `{"messages":[` + user + `,3,"x",null,{"role":"user"}],"model":"m"}`, `{}`},
		{messages, `{"messages":[` + user + `,{"role":"us`, `{}`},
	}
	db := stored(t, all)
	if n := samePieces(t, db); n < 6 {
		t.Errorf("only %d requests were read by pieces", n)
	}
}

// The store keeps elements of more than 1 MB in several pieces. Some begin alike, some
// are so many that not all that was read is kept.
func TestRequests_LongElementsAreReadByPieces(t *testing.T) {
	const messages = "https://a.example/v1/messages"
	long := strings.Repeat(`a line of a long file, \"quoted\"\n`, 70_000) // 2.4 MB
	result := func(id, text string) string {
		return `,{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"` + text + `"}]}`
	}
	begin := `{"model":"m","tools":[{"name":"f","description":"` + long + `","input_schema":{}},{"name":"g","input_schema":{}}],"messages":[{"role":"user","content":"Go"}`
	end := `]}`
	a, b, c := result("a", long), result("b", long+"x"), result("c", "short")
	all := []sent{
		{messages, begin + end, `{}`}, {messages, begin + a + end, `{}`}, {messages, begin + a + c + end, `{}`}, {messages, begin + a + c + b + end, `{}`},
		{messages, begin + result("a", long+"y") + end, `{}`}, {messages, begin + result("a", long[:len(long)-35]) + c + end, `{}`}, {messages, begin + a + b + end, `{}`},
		{messages, begin + c + result("d", strings.Repeat("z", 1<<20-len(result("d", ""))+len(result("", ""))-1)) + a + end, `{}`},
		{messages, begin + a + b + c + result("e", long+"e") + result("f", long+"f") + result("g", long+"g") + result("h", long+long) + end, `{}`},
		{messages, begin + a + c + end, `{}`}, {messages, begin + a + `,{"role":"user","content":"` + long, `{}`},
	}
	if n := samePieces(t, stored(t, all)); n != len(all)-1 {
		t.Errorf("%d requests were read by pieces, want %d", n, len(all)-1)
	}
}

// Real clients.
func TestRequests_ByPiecesOfRealTraffic(t *testing.T) {
	files, _ := filepath.Glob("../../shared/clients/traffic/*.jsonl")
	if len(files) == 0 {
		t.Skip("there is no traffic of real clients here")
	}
	var all []sent
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var line struct {
				Method, Target string
				Body           string `json:"body_b64"`
				Resp           struct {
					Body string `json:"body_b64"`
				}
			}
			if json.Unmarshal(lines.Bytes(), &line) != nil || line.Method != "POST" || strings.Contains(line.Target, "v1beta") {
				continue
			}
			request, _ := base64.StdEncoding.DecodeString(line.Body)
			response, _ := base64.StdEncoding.DecodeString(line.Resp.Body)
			all = append(all, sent{"https://a.example" + line.Target, string(request), string(response)})
		}
	}
	if n := samePieces(t, stored(t, all)); n < len(all)/2 {
		t.Errorf("only %d of %d requests were read by pieces", n, len(all))
	}
}
