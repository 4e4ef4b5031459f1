package rawjson

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func nested(n int) json.RawMessage {
	return json.RawMessage(strings.Repeat(`{"a":[`, n/2) + strings.Repeat(`]}`, n/2))
}

func TestDepth_CountsBracketsOutsideStrings(t *testing.T) {
	for text, want := range map[string]int{``: 0, `1`: 0, `[]`: 1, `{"a":[{}],"b":[]}`: 3, `["[[[","\"[",{}]`: 2, string(nested(20_000)): 20_000} {
		if got := Depth([]byte(text)); got != want {
			t.Errorf("%.40s: %d, want %d", text, got, want)
		}
	}
}

// What encoding/json cannot write, and what other readers cannot read, stands as text.
func TestShallow_WritesWhatIsDeepAsText(t *testing.T) {
	type inner struct{ Raw json.RawMessage }
	type outer struct {
		inner
		*json.Decoder
		Name   string
		One    *inner
		List   []inner
		Two    [2]json.RawMessage
		Map    map[string]json.RawMessage
		Any    any
		hidden json.RawMessage
	}
	deep, flat := nested(20_000), nested(400)
	v := outer{Name: "n", One: &inner{deep}, List: []inner{{flat}, {deep}}, Two: [2]json.RawMessage{flat, deep},
		Map: map[string]json.RawMessage{"deep": deep, "flat": flat}, Any: []any{1, deep, nil}, hidden: deep}
	text, err := json.Marshal(Shallow(&v))
	if err != nil {
		t.Fatal(err)
	}
	quoted := string(Quote(string(deep)))
	if n := strings.Count(string(text), quoted); n != 5 {
		t.Errorf("%d deep values stand as text, want 5", n)
	}
	if n := strings.Count(string(text), string(flat)); n < 3 {
		t.Errorf("%d flat values stand as they are, want 3", n)
	}
	if !reflect.DeepEqual(v.One.Raw, deep) || !reflect.DeepEqual(v.List[1].Raw, deep) || !reflect.DeepEqual(v.Map["deep"], deep) {
		t.Error("the value that was given is changed")
	}
	w := outer{One: &inner{flat}}
	if got := Shallow(&w); got != any(&w) {
		t.Error("what is not deep is copied")
	}
}
