package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestApply_SplicesOnlyTheEdit(t *testing.T) {
	pretty := "{\n  \"a\": 1.10,\n  \"b\": [\n    1,\n    2\n  ]\n}\n"
	for _, c := range []struct{ name, body, op, at, value, want string }{
		{"replace keeps everything else", `{ "n":1.10 , "a":[ 1, {"b" : "x"} ]}`, "replace", "/a/1/b", `"y"`, `{ "n":1.10 , "a":[ 1, {"b" : "y"} ]}`},
		{"replace the whole", ` {"a":1}`, "replace", "", `[]`, ` []`},
		{"replace the last of two members", `{"a":1,"a":2}`, "replace", "/a", `3`, `{"a":1,"a":3}`},
		{"escaped pointer", `{"a/b":{"m~n":1}}`, "replace", "/a~1b/m~0n", `2`, `{"a/b":{"m~n":2}}`},
		{"escaped key", `{"\u0061":1}`, "replace", "/a", `2`, `{"\u0061":2}`},
		{"delete the first", `[1, 2, 3]`, "delete", "/0", ``, `[2, 3]`},
		{"delete one between", `[1, 2, 3]`, "delete", "/1", ``, `[1, 3]`},
		{"delete the last", `[1, 2, 3 ]`, "delete", "/2", ``, `[1, 2 ]`},
		{"delete the only one", `{ "a" : 1 }`, "delete", "/a", ``, `{ }`},
		{"delete a member", `{"a":1, "b":2}`, "delete", "/a", ``, `{"b":2}`},
		{"insert before", `[1, 2]`, "insert", "/1", `9`, `[1, 9, 2]`},
		{"insert at the head of one", `[1]`, "insert", "/0", `9`, `[9,1]`},
		{"append", `[1, 2]`, "insert", "/-", `9`, `[1, 2, 9]`},
		{"append by index", `[1,2]`, "insert", "/2", `9`, `[1,2,9]`},
		{"append to nothing", `{"a":[ ]}`, "insert", "/a/-", `9`, `{"a":[9 ]}`},
		{"append to pretty print", pretty, "insert", "/b/-", `3`, strings.Replace(pretty, "2\n", "2,\n    3\n", 1)},
		{"a new member", pretty, "insert", "/c", `null`, strings.Replace(pretty, "]\n}", "],\n  \"c\": null\n}", 1)},
		{"a new member of nothing", `{}`, "insert", "/c", `null`, `{"c":null}`},
		{"a member that is there", `{"c":1}`, "insert", "/c", ` null `, `{"c":null}`},
	} {
		got, err := Apply([]byte(c.body), Edit{Op: Op(c.op), At: c.at, Value: []byte(c.value)})
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.name, got, err, c.want)
		}
	}
}

func TestApply_RefusesWhatLeadsNowhere(t *testing.T) {
	for _, c := range []struct{ body, op, at, value string }{
		{`{"a":1}`, "replace", "/b", `1`}, {`{"a":1}`, "replace", "/a/b", `1`}, {`[1]`, "replace", "/1", `1`}, {`[1]`, "replace", "/01", `1`},
		{`[1]`, "delete", "/-", ``}, {`[1]`, "insert", "/3", `1`}, {`[1]`, "insert", "/-1", `1`}, {`"x"`, "insert", "/a", `1`},
	} {
		if got, err := Apply([]byte(c.body), Edit{Op: Op(c.op), At: c.at, Value: []byte(c.value)}); !errors.Is(err, ErrNoValue) {
			t.Errorf("%s %s of %s: %s, %v", c.op, c.at, c.body, got, err)
		}
	}
	for _, e := range []Edit{{Op: Replace, At: "a", Value: []byte(`1`)}, {Op: Replace, At: "/a", Value: []byte(`{`)}, {Op: Delete, At: ""}, {Op: "move", At: "/a"}} {
		if got, err := Apply([]byte(`{"a":1}`), e); err == nil {
			t.Errorf("%+v gives %s", e, got)
		}
	}
	if _, err := Apply([]byte(`{"a":`), Edit{Op: Delete, At: "/a"}); err == nil {
		t.Error("a broken body was edited")
	}
}

// FuzzApply: an edit that is undone gives the same bytes.
func FuzzApply(f *testing.F) {
	f.Add([]byte(`{ "a": [1, {"b": 2.10}, "x"], "c":null }`), "/a/1/b", []byte(`"new"`))
	f.Add([]byte(`[1,2]`), "/-", []byte(`{}`))
	f.Add([]byte(`{"a/b":{"~":1}}`), "/a~1b/~0", []byte(`[ ]`))
	f.Add([]byte(`{}`), "/x", []byte(`1`))
	f.Fuzz(func(t *testing.T, body []byte, at string, value []byte) {
		before := bytes.Clone(body)
		replaced, err := Apply(body, Edit{Op: Replace, At: at, Value: value})
		if err == nil {
			p, _ := Locate(body, at)
			back, err := Apply(replaced, Edit{Op: Replace, At: at, Value: body[p.Start:p.End]})
			if err != nil || !bytes.Equal(back, body) || !json.Valid(replaced) {
				t.Fatalf("replaced %q, back %q, %v", replaced, back, err)
			}
		}
		for _, e := range []Edit{{Op: Insert, At: at, Value: value}, {Op: Delete, At: at}} {
			if got, err := Apply(body, e); err == nil && !json.Valid(got) {
				t.Fatalf("%s %s of %q gives %q", e.Op, at, body, got)
			}
		}
		if !bytes.Equal(body, before) {
			t.Fatal("the body was changed")
		}
	})
}
