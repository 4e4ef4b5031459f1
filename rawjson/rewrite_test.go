package rawjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/retake-debugger/retake/rawjson"
)

// Whatever is left out or replaced, the bytes are those that single edits give.
func TestRewrite_GivesTheBytesOfSingleEdits(t *testing.T) {
	bodies := []string{
		`{"a":[1,2,3]}`, `{"a":[ 1 , {"x":[4]},"three" ] ,"b":2}`, "{\n  \"a\": [\n    1,\n    2,\n    3\n  ]\n}", `{"a":[]}`, `{"a":[ ]}`, `{"a":[7]}`, `{"a":[ 7 ], "c":[1]}`,
		`{"a" : [1,  2 ,3   ,4,5 ]}`,
	}
	for _, body := range bodies {
		var read struct{ A []json.RawMessage }
		if err := json.Unmarshal([]byte(body), &read); err != nil {
			t.Fatal(err)
		}
		n := len(read.A)
		for choice := range 1 << (2 * n) { // of each element: stays, is replaced, goes
			var edits []rawjson.Edit
			for i := n - 1; i >= 0; i-- {
				at := "/a/" + strconv.Itoa(i)
				switch choice >> (2 * i) & 3 {
				case 1:
					edits = append(edits, rawjson.Edit{Op: rawjson.Replace, At: at, Value: json.RawMessage(`"new"`)})
				case 2:
					edits = append(edits, rawjson.Edit{Op: rawjson.Delete, At: at})
				}
			}
			want, err := rawjson.Apply([]byte(body), edits...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := rawjson.Rewrite([]byte(body), "/a", func(i int, v json.RawMessage) (json.RawMessage, error) {
				switch choice >> (2 * i) & 3 {
				case 1:
					return json.RawMessage(`"new"`), nil
				case 2:
					return nil, nil
				}
				return v, nil
			})
			if err != nil || string(got) != string(want) {
				t.Fatalf("%s, choice %b: %s, want %s (%v)", body, choice, got, want, err)
			}
		}
	}
}

func TestRewrite_Refuses(t *testing.T) {
	keep := func(_ int, v json.RawMessage) (json.RawMessage, error) { return v, nil }
	for _, at := range []string{"/b", "/c", "", "/a/9"} {
		if _, err := rawjson.Rewrite([]byte(`{"a":[1],"b":{}}`), at, keep); !errors.Is(err, rawjson.ErrNoValue) {
			t.Errorf("%q: %v", at, err)
		}
	}
	if _, err := rawjson.Rewrite([]byte(`{"a":[1}`), "/a", keep); err == nil {
		t.Error("no error for what is no JSON")
	}
	broken := fmt.Errorf("broken")
	if _, err := rawjson.Rewrite([]byte(`{"a":[1]}`), "/a", func(int, json.RawMessage) (json.RawMessage, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}
