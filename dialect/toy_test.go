package dialect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/dialect/dialecttest/toy"
	"github.com/retake-debugger/retake/transcript"
)

// A list takes an API of one folder, whatever dialect.APIs holds.
func TestList_TakesAnAPIByOneLine(t *testing.T) {
	list := append(slices.Clone(dialect.APIs), &toy.API)
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
