package dialect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// toyAPI is an API of one folder and one line: {"model","turns":[{"who","says"|"call"|"back","id"}]},
// answered by {"toy":true,"turns":[…],"cost":{"in","out"}}.
var toyAPI = api.API{
	Name:  "toy",
	Title: "Toy",
	Claim: func(w *api.Wire, path []string) api.Claim {
		if api.IsPost(w) && api.EndsWith(path, "toy") {
			return api.Mine
		}
		return api.NotMine
	},
	IsAnswer:  func(v []byte) bool { return string(rawjson.Get(v, "toy")) == "true" },
	IsEvent:   func([]byte) bool { return false },
	Resembles: func(body []byte) int { return 2 * len(rawjson.Elements(rawjson.Get(body, "turns"))[:0:0]) },
	Arrays:    []api.Array{{Name: "turns", History: true}},
	Decode:    func(r *api.Reader) api.Decoder { return toyDecoder{r} },
	Arguments: func(v []byte) (string, api.Form) {
		if rawjson.Get(v, "call") == nil {
			return "", api.AsObject
		}
		return "/with", api.AsObject
	},
	Result: func(v []byte) string {
		if rawjson.Get(v, "back") == nil {
			return ""
		}
		return "back"
	},
	ErrorMark: "failed",
	System:    "rules",
	Append: func(response []byte, results []api.Result) ([][]byte, error) {
		list := rawjson.Elements(rawjson.Get(response, "turns"))
		for _, r := range results {
			list = append(list, []byte(`{"who":"tool","id":`+string(rawjson.Quote(r.CallID))+`,"back":`+string(rawjson.Quote(r.Text))+`}`))
		}
		return list, nil
	},
	Read: func(d *draft.Draft, body []byte) {
		for _, v := range rawjson.Elements(rawjson.Get(body, "turns")) {
			u := draft.Utterance{Kind: transcript.MessageItem, Role: "user"}
			d.Content(&u, rawjson.Get(v, "says"), "/turns")
			d.Add(u)
		}
	},
	Write:  func(d *draft.Draft, out *rawjson.Object) { out.Set("turns", []byte("[]")) },
	Limits: draft.Limits{ID: 20, Name: 20},
	Path:   "/toy",
	Home:   "openai",
	Error:  func(object []byte) []byte { return []byte(`{"oops":` + string(object) + `}`) },
	Ask: func(model, system, user string, tokens int) ([]byte, error) {
		return []byte(`{"turns":[{"who":"user","says":` + string(rawjson.Quote(user)) + `}]}`), nil
	},
}

type toyDecoder struct{ *api.Reader }

func (d toyDecoder) Request(o *api.Outline) {
	d.Common(o)
	d.Each(o, "turns", func(v []byte, at string) { d.In(toyItem(v, at)) }, nil)
}

func (d toyDecoder) Response(object []byte) {
	for i, v := range rawjson.Elements(rawjson.Get(object, "turns")) {
		d.Out(toyItem(v, "/turns/"+string(rune('0'+i))))
	}
}

func (toyDecoder) Stream() api.Assembler { return nil }

func toyItem(v []byte, at string) transcript.Item {
	it := transcript.Item{Kind: transcript.MessageItem, Role: rawjson.String(rawjson.Get(v, "who")), Text: rawjson.String(rawjson.Get(v, "says")), At: at, Raw: v,
		CallID: rawjson.String(rawjson.Get(v, "id"))}
	switch {
	case rawjson.Get(v, "call") != nil:
		it.Kind, it.Name = transcript.ToolCall, rawjson.String(rawjson.Get(v, "call"))
		api.SetArguments(&it, rawjson.Get(v, "with"))
	case rawjson.Get(v, "back") != nil:
		it.Kind = transcript.ToolResult
		api.ReadResult(&it, rawjson.Get(v, "back"))
	}
	return it
}

// An API is added by its folder and one line of the list.
func TestList_TakesAnAPIByOneLine(t *testing.T) {
	list := append(slices.Clone(dialect.APIs), &toyAPI)
	w := &api.Wire{Method: "POST", URL: "/v1/toy", Status: 200,
		Request:  []byte(`{"model":"t","turns":[{"who":"user","says":"hi"},{"who":"model","call":"add","id":"a","with":{"x":1}},{"who":"tool","id":"a","back":"2"}]}`),
		Response: []byte(`{"toy":true,"turns":[{"who":"model","says":"two"}]}`)}
	d := list.Recognise(w)
	if d != "toy" {
		t.Fatalf("it speaks %s", d)
	}
	turn := list.Decode(d, w)
	if len(turn.Input) != 3 || len(turn.Output) != 1 || turn.Model != "t" {
		t.Fatalf("%+v", turn)
	}
	if pairs := transcript.PairItems(turn.Input); len(pairs) != 1 || pairs[0].State != transcript.Paired {
		t.Errorf("pairs %+v", pairs)
	}
	if cuts := list.Split(d, w.Request); len(cuts) != 5 {
		t.Errorf("cuts %v", cuts)
	}
	var m api.Memory
	for range 2 {
		if r := list.Read(&m, d, w); len(r.Keys) != 3 {
			t.Errorf("keys %v", r.Keys)
		}
	}
	edited, err := list.SetResult(d, w.Request, "a", "3")
	if err != nil || !strings.Contains(string(edited), `"back":"3"`) {
		t.Errorf("%s, %v", edited, err)
	}
	if edited, err = list.SetArgumentsAt(d, w.Request, "/turns/1", []byte(`{"x":2}`)); err != nil || !strings.Contains(string(edited), `"with":{"x":2}`) {
		t.Errorf("%s, %v", edited, err)
	}
	next, err := list.Continue(d, w.Request, w.Response, []api.Result{{CallID: "b", Text: "done"}})
	if err != nil || len(list.Decode(d, &api.Wire{Request: next}).Input) != 5 {
		t.Errorf("%s, %v", next, err)
	}
	if body, _, err := list.Convert(d, dialect.APIs[0].Name, w.Request); err != nil || !strings.Contains(string(body), `"hi"`) {
		t.Errorf("%s, %v", body, err)
	}
}
