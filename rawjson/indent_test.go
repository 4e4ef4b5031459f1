package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestIndent_LaysOutAsEncodingJSONDoes(t *testing.T) {
	for _, text := range []string{
		`null`, `"a\u00e9"`, `[]`, `{ }`, `[ [ ] , { } ]`, `{"a":1,"b":[1.50,{"c":"x:y,z{"}],"d":{}}`, " {\"a\" :\n[true , false]} ", `[1e5,-0,"\\\""]`,
		strings.Repeat(`{"a":[`, laidOut/2) + strings.Repeat(`]}`, laidOut/2),
	} {
		var want bytes.Buffer
		if err := json.Indent(&want, []byte(strings.TrimSpace(text)), "", "  "); err != nil {
			t.Fatal(err)
		}
		if got, ok := Indent([]byte(text), 1<<20); !ok || string(got) != want.String() {
			t.Errorf("%s:\n%s\nwant\n%s", text, got, want.String())
		}
	}
}

func TestIndent_OfDeepOrWideJSONIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"arrays":  strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000),
		"objects": strings.Repeat(`{"a":`, 200_000) + "1" + strings.Repeat("}", 200_000),
		"wide":    "[" + strings.Repeat("1,", 1_000_000) + "1]",
	} {
		got, ok := Indent([]byte(text), 50_000_000)
		if !ok || len(got) > 4*len(text)+20_000 {
			t.Errorf("%s: %v, %d bytes of %d", name, ok, len(got), len(text))
		}
		if !equalJSON([]byte(text), got) {
			t.Errorf("%s: another value", name)
		}
		if got, _ := Indent([]byte(text), 1000); len(got) > 1300 {
			t.Errorf("%s: %d bytes, asked for 1,000", name, len(got))
		}
	}
}

// equalJSON compares two texts without strings in which blanks stand.
func equalJSON(a, b []byte) bool {
	without := func(b []byte) string { return strings.Join(strings.Fields(string(b)), "") }
	return without(a) == without(b)
}

func TestIndent_RefusesWhatIsNotJSON(t *testing.T) {
	for _, text := range []string{``, `{`, `[1,]`, `{"a":1}x`, `[}`} {
		if _, ok := Indent([]byte(text), 100); ok {
			t.Errorf("%q is laid out", text)
		}
	}
}
