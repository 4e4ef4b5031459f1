package dialect

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

func dialectOf(n byte) transcript.Dialect {
	return [...]transcript.Dialect{transcript.Chat, transcript.Responses, transcript.Messages, transcript.Unknown}[n%4]
}

// FuzzDecode: any bytes decode without a panic, into a Turn that keeps its
// promises.
func FuzzDecode(f *testing.F) {
	for i, c := range goldenCases(f) {
		f.Add(byte(i), c.wire.Request, c.wire.Response, c.wire.Status)
		d := map[transcript.Dialect]byte{transcript.Chat: 0, transcript.Responses: 1, transcript.Messages: 2}[c.dialect]
		f.Add(d, c.wire.Request, c.wire.Response, c.wire.Status)
		f.Add(d, c.wire.Request[:len(c.wire.Request)/2], c.wire.Response[:len(c.wire.Response)/2], 500)
	}
	f.Fuzz(func(t *testing.T, n byte, request, response []byte, status int) {
		w := &api.Wire{Method: "POST", URL: "/v1/chat/completions", Status: status, Request: request, Response: response}
		Recognise(w)
		w.URL = "/odd"
		Recognise(w)
		turn := Decode(dialectOf(n), w)
		checkTurn(t, w, turn)
		for _, items := range [][]transcript.Item{turn.Input, turn.Output} {
			for i := range items {
				transcript.KeyOf(&items[i])
			}
			transcript.PairItems(items)
		}
		if _, err := json.Marshal(turn); err != nil {
			t.Fatal(err)
		}
		again := Decode(dialectOf(n), &api.Wire{Method: "POST", URL: "/odd", Status: status, Request: bytes.Clone(request), Response: bytes.Clone(response)})
		if !reflect.DeepEqual(turn, again) {
			t.Fatal("the same bytes decode differently")
		}
	})
}

// FuzzSplit: the segments are the body, in order, none of them empty.
func FuzzSplit(f *testing.F) {
	for i, c := range goldenCases(f) {
		f.Add(byte(i), c.wire.Request)
	}
	for _, s := range []string{``, `null`, `[1,2`, `{}`, `{"a":1,}`, `{"messages":[{"b":"c\"d`, `{"a":1}x`, "\t{ \"input\" : [ 1 , \"x\" ] }\n"} {
		f.Add(byte(0), []byte(s))
	}
	f.Fuzz(func(t *testing.T, n byte, body []byte) { checkSplit(t, dialectOf(n), body) })
}

func checkSplit(t testing.TB, d transcript.Dialect, body []byte) {
	t.Helper()
	last := 0
	ends := Split(d, body)
	for _, end := range ends {
		if end <= last {
			t.Fatalf("segment ends at %d behind one at %d", end, last)
		}
		last = end
	}
	if last != len(body) {
		t.Fatalf("the segments end at %d of %d", last, len(body))
	}
}

// FuzzSetResult: what is set can be read back, and nothing else has changed.
func FuzzSetResult(f *testing.F) {
	for i, c := range goldenCases(f) {
		f.Add(byte(i), c.wire.Request, "call_1", "new \"text\"\n")
		f.Add(byte(0), c.wire.Request, "call_2", "")
		f.Add(byte(1), c.wire.Request, "call_1", "x")
		f.Add(byte(2), c.wire.Request, "toolu_1", "é")
	}
	f.Fuzz(func(t *testing.T, n byte, body []byte, id, text string) {
		d := dialectOf(n)
		before := bytes.Clone(body)
		got, err := SetResult(d, body, id, text)
		if !bytes.Equal(body, before) {
			t.Fatal("the body was changed")
		}
		if err != nil {
			return
		}
		checkOneChange(t, d, body, got, id, text)
	})
}

func checkOneChange(t testing.TB, d transcript.Dialect, body, got []byte, id, text string) {
	t.Helper()
	if !json.Valid(got) {
		t.Fatalf("not JSON: %q", got)
	}
	a, b := Decode(d, &api.Wire{Request: body}).Input, Decode(d, &api.Wire{Request: got}).Input
	if len(a) != len(b) {
		t.Fatalf("%d items became %d", len(a), len(b))
	}
	text = rawjson.Unquote(rawjson.Quote(text))
	changed := 0
	for i := range a {
		if bytes.Equal(a[i].Raw, b[i].Raw) {
			continue
		}
		changed++
		if b[i].CallID != id || b[i].Text != text {
			t.Fatalf("%s became %s", a[i].Raw, b[i].Raw)
		}
	}
	if changed > 1 {
		t.Fatalf("%d items changed", changed)
	}
	prefix, suffix := 0, 0
	for prefix < len(body) && prefix < len(got) && body[prefix] == got[prefix] {
		prefix++
	}
	for suffix < len(body)-prefix && suffix < len(got)-prefix && body[len(body)-1-suffix] == got[len(got)-1-suffix] {
		suffix++
	}
	if changed == 0 && !bytes.Equal(body, got) && !duplicateMembers(body) {
		t.Fatalf("no item changed but bytes did: %q", got)
	}
}

// FuzzConvert: any request is refused, or becomes one of the other dialect that
// can be read, and every loss points at something.
func FuzzConvert(f *testing.F) {
	files, err := filepath.Glob("testdata/convert/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no case found (%v)", err)
	}
	for _, file := range files {
		body := read(f, file)
		for n := range 6 {
			f.Add(byte(n), body)
		}
	}
	f.Add(byte(1), []byte(`{"messages":[{"role":"assistant","tool_calls":[{"id":"a"},{"id":"a"},{"id":"a_2"},{}]},{"role":"tool","content":null},{"role":"tool","tool_call_id":"zz","content":[[]]}],"tools":[{}],"tool_choice":{}}`))
	f.Fuzz(func(t *testing.T, n byte, body []byte) {
		from := dialectOf(n % 3)
		to := dialectOf((n + 1 + n/3%2) % 3)
		before := bytes.Clone(body)
		got, losses, err := Convert(from, to, body)
		if !bytes.Equal(body, before) {
			t.Fatal("the request was changed")
		}
		if err != nil {
			return
		}
		if !json.Valid(got) {
			t.Fatalf("not JSON: %q", got)
		}
		again, _, _ := Convert(from, to, body)
		if !bytes.Equal(got, again) {
			t.Fatal("the same request converts differently")
		}
		for _, l := range losses {
			if l.At != "" && valueAt(body, l.At) == nil && !duplicateMembers(body) {
				t.Fatalf("%+v points nowhere", l)
			}
		}
		if _, _, err := Convert(to, from, got); err != nil {
			t.Fatalf("the way back: %v", err)
		}
	})
}
