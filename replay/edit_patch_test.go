package replay

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/retake-debugger/retake/analysis"
)

// What is spliced says the same as what the library writes anew.
func FuzzApplyPatch(f *testing.F) {
	for _, s := range [][2]string{
		{`{"a":[1,2],"b":{"c":1.10}}`, `[{"op":"add","path":"/a/-","value":3},{"op":"move","from":"/b/c","path":"/d"}]`},
		{`{"a":[1,2]}`, `[{"op":"remove","path":"/a/0"},{"op":"replace","path":"","value":[]}]`},
		{`{"a~b":{"c/d":null}}`, `[{"op":"copy","from":"/a~0b","path":"/a~0b/c~1d"},{"op":"test","path":"/a~0b","value":{}}]`},
		{`[[],{}]`, `[{"op":"add","path":"/1/x","value":null},{"op":"add","path":"/0/0","value":"\u00e9"}]`},
		{`{}`, `[{"op":"add"}]`}, {`{"a":{"b":null}}`, `[{"op":"copy","from":"/a","path":""}]`}, {`{}`, `{}`}, {`{}`, `[null]`}, {`{}`, `[{"op":"test","path":"/x","value":null}]`},
	} {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	f.Fuzz(func(t *testing.T, body, patch []byte) {
		if !json.Valid(body) {
			return
		}
		before := bytes.Clone(body)
		got, err := applyPatch(body, patch)
		if !bytes.Equal(body, before) {
			t.Fatal("the recorded body was changed")
		}
		if err != nil {
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%s by %s is no JSON: %s", body, patch, got)
		}
		operations, err := jsonpatch.DecodePatch(patch)
		if err != nil || wholeBody(operations) || repeats(body) || repeats(patch) {
			return
		}
		o := jsonpatch.NewApplyOptions()
		o.SupportNegativeIndices = false
		want, err := operations.ApplyWithOptions(body, o)
		if err != nil {
			return
		}
		if differ, ok := analysis.DiffJSON(want, got); !ok || len(differ) > 0 {
			t.Errorf("%s by %s: %s, the library says %s", body, patch, got, want)
		}
	})
}

// wholeBody reports whether something is put in the place of the whole body: the library
// copies and moves it to a member "" instead.
func wholeBody(operations jsonpatch.Patch) bool {
	for _, op := range operations {
		if path, err := op.Path(); err == nil && path == "" {
			return true
		}
	}
	return false
}

// repeats reports whether some object has two members of one name: of these the
// library keeps one.
func repeats(raw []byte) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	type level struct {
		names map[string]bool // nil of an array
		value bool            // a value comes next
	}
	var open []level
	for {
		token, err := d.Token()
		if err != nil {
			return err != io.EOF
		}
		delim, isDelim := token.(json.Delim)
		if isDelim && (delim == '}' || delim == ']') {
			open = open[:len(open)-1]
			continue
		}
		if n := len(open) - 1; n >= 0 && open[n].names != nil {
			if name, ok := token.(string); ok && !open[n].value {
				if open[n].names[name] {
					return true
				}
				open[n].names[name], open[n].value = true, true
				continue
			}
			open[n].value = false
		}
		switch {
		case isDelim && delim == '{':
			open = append(open, level{names: map[string]bool{}})
		case isDelim:
			open = append(open, level{})
		}
	}
}
