package rawjson

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func leavesOf(text string) []string {
	var got []string
	for l := range Leaves([]byte(text)) {
		got = append(got, fmt.Sprintf("%s=%s", strings.Join(l.Names, "/"), text[l.Start:l.End]))
	}
	return got
}

func TestLeaves_NamesWhatIsAroundThem(t *testing.T) {
	for text, want := range map[string][]string{
		`{"a":"x","b":{"c":[1,"y"]}}`: {"a=x", "b/c/=1", "b/c/=y"},
		`["x",{"a":"\"q\""}]`:         {"=x", `/a=\"q\"`},
		`{"a":"cut`:                   {"a=cut"},
		`{"a":1]}"b","c":"d"}`:        {"a=1", "=b", "=c", "=d"},
		`"alone"`:                     {"=alone"},
		`{"a`:                         nil,
	} {
		if got := leavesOf(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// FuzzLeaves compares with the Cursor where the text is JSON.
func FuzzLeaves(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := leavesOf(s)
		if !json.Valid([]byte(s)) {
			return
		}
		if n := countLeaves([]byte(s)[SkipSpace([]byte(s), 0):]); n > len(got) {
			t.Fatalf("%q has %d strings and numbers, %d were visited", s, n, len(got))
		}
	})
}

func countLeaves(v []byte) int {
	switch v[0] {
	case '{', '[':
		n := 0
		for c := Walk(v); c.Next(); {
			n += countLeaves(c.Value())
		}
		return n
	case 't', 'f', 'n':
		return 0
	}
	return 1
}
