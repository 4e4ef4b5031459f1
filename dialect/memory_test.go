package dialect

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/transcript"
)

// checkRead compares what a memory reads with what is read without one.
func checkRead(t *testing.T, m *api.Memory, d transcript.Dialect, w *api.Wire) {
	t.Helper()
	got, want := Read(m, d, w), Decode(d, w)
	if !reflect.DeepEqual(got.Turn, want) {
		t.Fatalf("%s turn of %.2000s\ndiffers (-decoded +read):\n%s", d, w.Request, cmp.Diff(want, got.Turn))
	}
	if keys := transcript.Keys(want.Input); !slices.Equal(got.Keys, keys) {
		t.Fatalf("%s keys of %.2000s\nare %x, want %x", d, w.Request, got.Keys, keys)
	}
	if nodes := transcript.Chain(transcript.Node{}, got.Keys); !slices.Equal(got.Nodes, nodes) {
		t.Fatalf("%s nodes of %.2000s\nare %x, want %x", d, w.Request, got.Nodes, nodes)
	}
	if cuts := Split(d, w.Request); !slices.Equal(got.Cuts, cuts) {
		t.Fatalf("%s cuts of %.2000s\nare %v, want %v", d, w.Request, got.Cuts, cuts)
	}
	checkMarks(t, got, w.Request)
	if len(w.Request)%3 > 0 { // others are still in use when the next is read
		m.Release(got)
	}
}

// marked is what was seen of pieces of one length with one mark.
type marked struct {
	mark   api.Mark
	length int
}

var seenMarks sync.Map // of all readings in this test: no mark may mean two things

func checkMarks(t *testing.T, r *api.Reading, body []byte) {
	t.Helper()
	if len(r.Marks) != 0 && len(r.Marks) != len(r.Cuts) {
		t.Fatalf("%d marks for %d pieces", len(r.Marks), len(r.Cuts))
	}
	start := 0
	for i, m := range r.Marks {
		piece := string(body[start:r.Cuts[i]])
		start = r.Cuts[i]
		if m == (api.Mark{}) {
			continue
		}
		if before, seen := seenMarks.LoadOrStore(marked{m, len(piece)}, piece); seen && before != piece {
			t.Fatalf("pieces with one mark differ:\n%.300q\n%.300q", before, piece)
		}
	}
}

func TestMarks_ComeAgainWithTheirPieces(t *testing.T) {
	var m api.Memory
	w := &api.Wire{Request: []byte(`{"messages":[{"role":"user","content":"a"},{"role":"user","content":"a"} ,` + "\n" + `{"role":"user","content":"b"}]}`)}
	first, second := Read(&m, transcript.Chat, w), Read(&m, transcript.Chat, w)
	if !slices.Equal(first.Marks, second.Marks) || len(first.Marks) != 5 {
		t.Fatalf("marks %v, then %v", first.Marks, second.Marks)
	}
	var known []bool
	for _, m := range first.Marks {
		known = append(known, m != (api.Mark{}))
	}
	if want := []bool{false, true, true, false, false}; !slices.Equal(known, want) { // the beginning; two; more than a comma before it; the end
		t.Errorf("marked %v, want %v", known, want)
	}
}

func TestMemory_ReadsTheCorpusLikeDecode(t *testing.T) {
	cases := corpusCases(t)
	var memory api.Memory
	small := api.Memory{Limit: 1 << 20}
	for range 2 {
		for _, x := range cases {
			d := Recognise(x.wire)
			w := &api.Wire{URL: x.wire.URL, Request: x.wire.Request}
			checkRead(t, &memory, d, w)
			checkRead(t, &small, d, w)
		}
	}
}

// history makes the requests of a client that does to its history what clients
// do: it grows, loses its beginning, is edited, carries a cache mark along, is
// sent twice.
type history struct {
	random   *rand.Rand
	dialect  transcript.Dialect
	system   string
	elements []string
	n        int
}

func (h *history) text() string {
	h.n++
	return fmt.Sprintf(`%d \"%s\" \u00fc`, h.n, strings.Repeat("é\\n", h.random.IntN(40)))
}

func (h *history) element() string {
	shapes := map[transcript.Dialect][]string{
		transcript.Chat: {
			`{"role":"user","content":"%s"}`,
			`{"role":"assistant","content":"%s","reasoning":"hm","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]}`,
			`{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"%s"}]}`,
			`{"content":"nobody says %s"}`,
			`"%s"`,
		},
		transcript.Messages: {
			`{"role":"user","content":"%s"}`,
			`{"role":"assistant","content":[{"type":"text","text":"%s"},{"type":"tool_use","id":"t","name":"f","input":{"a":1.0}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"%s"},{"type":"image","source":{}}]}`,
			`{"role":"user","no content":"%s"}`,
			`"%s"`,
		},
		transcript.Responses: {
			`{"role":"user","content":"%s"}`,
			`{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{\"a\":\"%s\"}"}`,
			`{"type":"function_call_output","call_id":"c","output":"%s"}`,
			`{"type":"news","about":"%s"}`,
			`"%s"`,
		},
	}[h.dialect]
	return fmt.Sprintf(shapes[h.random.IntN(len(shapes))], h.text())
}

func (h *history) change() {
	pick := func() int { return h.random.IntN(len(h.elements)) }
	switch n := len(h.elements); {
	case n < 3 || h.random.IntN(2) == 0:
		h.elements = append(h.elements, h.element())
	default:
		switch i := pick(); h.random.IntN(7) {
		case 0:
			h.elements[i] = h.element()
		case 1:
			h.elements = slices.Delete(h.elements, i, i+1)
		case 2:
			h.elements = slices.Insert(h.elements, i, h.element())
		case 3: // a longer value that begins alike
			h.elements[i] = strings.Replace(h.elements[i], `}`, `} `, 1)
		case 4:
			h.elements = append(h.elements, h.elements[i])
		case 5:
			h.elements = h.elements[i:]
		case 6:
			h.system = h.text()
		}
	}
}

// body writes the request down. The mark goes to a random element of the last.
func (h *history) body() []byte {
	elements := slices.Clone(h.elements)
	if i := len(elements) - 1 - h.random.IntN(min(3, len(elements))); strings.HasPrefix(elements[i], "{") {
		elements[i] = `{"cache_control":{"type":"ephemeral"},` + elements[i][1:]
	}
	list := strings.Join(elements, []string{",", ", ", " ,\n"}[h.random.IntN(3)])
	tool := `{"name":"f","type":"function","function":{"name":"f"}}`
	switch h.dialect {
	case transcript.Responses:
		return []byte(`{"model":"m","instructions":"` + h.system + `","input":[` + list + `],"tools":[` + tool + `]}`)
	case transcript.Messages:
		system := `"` + h.system + `"`
		if h.random.IntN(2) == 0 {
			system = `["` + h.system + `",{"type":"text","text":"` + h.system + `"}]`
		}
		return []byte(`{"tools":[` + tool + `],"messages":[` + list + `],"system":` + system + `,"model":"m"}`)
	}
	return []byte(` {"messages": [ ` + list + ` ] , "tools":[` + tool + `,` + tool + `],"stream":true}`)
}

func TestMemory_ReadsHistoriesLikeDecode(t *testing.T) {
	for _, limit := range []int{0, 20_000} {
		memory := &api.Memory{Limit: limit}
		for seed := range uint64(30) {
			random := rand.New(rand.NewPCG(seed, 0))
			dialects := []transcript.Dialect{transcript.Chat, transcript.Messages, transcript.Responses}
			h := &history{random: random, dialect: dialects[seed%3], system: "Be brief."}
			for range 40 {
				h.change()
				body := h.body()
				if random.IntN(8) == 0 {
					body = body[:random.IntN(len(body))]
				}
				checkRead(t, memory, h.dialect, &api.Wire{Request: body})
				// Nobody's memory may hang on a body that is gone.
				for i := range body {
					body[i] = 'x'
				}
			}
		}
		if limit > 0 && (memory.Size > limit || len(memory.Recent)+len(memory.Older) == 0) {
			t.Errorf("the memory holds %d bytes, the limit is %d", memory.Size, limit)
		}
	}
}

func TestMemory_ComparesInsteadOfReading(t *testing.T) {
	for _, a := range growing() {
		var memory api.Memory
		Read(&memory, a.dialect, &api.Wire{Request: a.body})
		o, _, ok := api.OutlineOf(APIs.Of(a.dialect), a.body, &memory)
		if !ok {
			t.Fatalf("%s: no outline", a.dialect)
		}
		elements := 0
		for _, m := range o.Members {
			for _, e := range m.List {
				elements++
				if e.Memo == nil {
					t.Errorf("%s: %.80s is not remembered", a.dialect, a.body[e.Start:e.End])
				}
			}
		}
		if elements < 160 {
			t.Errorf("%s: only %d elements", a.dialect, elements)
		}
	}
}

func TestMemory_KeepsToItsLimit(t *testing.T) {
	memory := &api.Memory{Limit: 1 << 20}
	long := strings.Repeat("x", 10_000)
	held := func() (n int) {
		for _, memos := range []map[uint64]*api.Memo{memory.Recent, memory.Older} {
			for _, e := range memos {
				n += len(e.Raw) + len(e.Items[0].Text)
			}
		}
		return n
	}
	most := 0
	for n := range 1000 {
		Read(memory, transcript.Chat, &api.Wire{Request: fmt.Appendf(nil, `{"messages":[{"role":"user","content":"%d %s"}]}`, n, long)})
		most = max(most, held())
	}
	if most > memory.Limit || most < memory.Limit/3 {
		t.Errorf("it held up to %d bytes, the limit is %d", most, memory.Limit)
	}
	n := 0
	for _, head := range memory.Heads {
		for e := head; e != nil; e = e.Next {
			n++
		}
	}
	if n > len(memory.Recent)+len(memory.Older)+1 {
		t.Errorf("%d elements hang on one another, %d are remembered", n, len(memory.Recent)+len(memory.Older))
	}
}

func TestMemory_ServesSeveralAtOnce(t *testing.T) {
	bodies := growing()
	memory := &api.Memory{Limit: 600_000}
	want := make([]*transcript.Turn, len(bodies))
	for i, a := range bodies {
		want[i] = Decode(a.dialect, &api.Wire{Request: a.body})
	}
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for n := range 12 {
				a := bodies[(g+n)%len(bodies)]
				got := Read(memory, a.dialect, &api.Wire{Request: bytes.Clone(a.body)})
				if !reflect.DeepEqual(got.Turn, want[(g+n)%len(bodies)]) {
					t.Errorf("%s differs", a.dialect)
				}
			}
		})
	}
	group.Wait()
}

func FuzzMemory(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`), []byte(`{"messages":[{"role":"user","content":"a"} ,{"role":"user","content":"c"},{"role":"user","content":"b"}]}`))
	f.Add([]byte(`{"system":"a","messages":[1,2,{}]}`), []byte(`{"system":"a\"","messages":[12,{},[]],"messages":[{}]}`))
	f.Add([]byte(`{"instructions":"a","input":"b","tools":[{}]}`), []byte("\xef\xbb\xbf{\"instructions\":\"a\",\"input\":[\"b\"],\"tools\":[{}"))
	f.Add([]byte(`{"\u006dessages":[{}],"tools":[{},{}]} x`), []byte(`{"messages":[{}],"t\u006fols":[{},{}] , "system":[{}]}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, d := range []transcript.Dialect{transcript.Chat, transcript.Messages, transcript.Responses, transcript.Unknown} {
			var memory api.Memory
			for _, body := range [][]byte{a, b, a, b} {
				checkRead(t, &memory, d, &api.Wire{Request: body})
			}
		}
	})
}

type growingBody struct {
	dialect transcript.Dialect
	body    []byte
}

// growing gives a request of 200 KB for each dialect: rounds of a text, a call
// and a result. The last result, of 2 KB, begins with #00000000.
func growing() []growingBody {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			for range 1 + random.IntN(9) {
				b.WriteByte("etaoinshrdlu"[random.IntN(12)])
			}
			b.WriteString([]string{" ", " ", " ", " ", ",\\n", " \\\""}[random.IntN(6)])
		}
		return b.String()
	}
	rounds := func(call, result string) string {
		var b strings.Builder
		for i := range 80 {
			fmt.Fprintf(&b, ","+call, text(400), i, i)
			mark := ""
			if i == 79 {
				mark = "#00000000"
			}
			fmt.Fprintf(&b, ","+result, i, mark+text(1900))
		}
		return b.String()
	}
	system := text(12_000)
	return []growingBody{
		{transcript.Chat, []byte(`{"model":"m","messages":[{"role":"system","content":"` + system + `"}` + rounds(
			`{"role":"assistant","content":"%s","tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"%d.txt\"}"}}]}`,
			`{"role":"tool","tool_call_id":"call_%d","content":"%s"}`) + `]}`)},
		{transcript.Messages, []byte(`{"model":"m","system":"` + system + `","messages":[{"role":"user","content":"Go on."}` + rounds(
			`{"role":"assistant","content":[{"type":"text","text":"%s"},{"type":"tool_use","id":"toolu_%d","name":"read","input":{"path":"%d.txt"}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]}`) + `]}`)},
		{transcript.Responses, []byte(`{"model":"m","instructions":"` + system + `","input":[{"role":"user","content":"Go on."}` + rounds(
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%s"}]},{"type":"function_call","call_id":"call_%d","name":"read","arguments":"{\"path\":\"%d.txt\"}"}`,
			`{"type":"function_call_output","call_id":"call_%d","output":"%s"}`) + `]}`)},
	}
}
