package web

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestFields_ShowAnEditAsADifference(t *testing.T) {
	got := newBudget().fields(json.RawMessage(`{"path":"a.go","old_string":"p.next(); p.next()","new_string":"p.next() // <b>","n":2512292042121000001}`), "/whole")
	if len(got) != 3 || got[1].Name != "old → new" || got[2].Value.Text != "2512292042121000001" {
		t.Fatalf("%+v", got)
	}
	if shown := string(got[1].Value.Shown()); !strings.Contains(shown, "<ins>// &lt;b&gt;</ins>") || !strings.Contains(shown, "<del>") {
		t.Error(shown)
	}
	long := strings.Repeat("a line that stays\\n", 30)
	got = newBudget().fields(json.RawMessage(`{"old_string":"`+long+`x","new_string":"`+long+`y"}`), "/whole")
	if v := got[0].Value; !v.Folded || strings.Count(string(v.ShownPreview()), "a line") != 8 || !strings.Contains(string(v.Shown()), "<ins>y</ins>") {
		t.Errorf("%s", v.ShownPreview())
	}
	for _, in := range []string{`{"old_string":"","new_string":"a"}`, `{"old_string":1,"new_string":"a"}`, `{"new_string":"a","old_string":"b"}`, `{"old_string":"a"}`} {
		for _, f := range newBudget().fields(json.RawMessage(in), "/whole") {
			if strings.Contains(f.Name, "→") {
				t.Errorf("%s is shown as an edit", in)
			}
		}
	}
}
