package rawjson

import (
	"bytes"
	"strings"
	"testing"
)

// upper is a form that renames and omits.
var upper = Form{
	Name: strings.ToUpper,
	Omit: func(name string, value any, in map[string]any, top bool) bool {
		return name == "CACHE_CONTROL" || value == nil || top && name == "ID" && in["type"] != nil
	},
}

// Whether long strings are put aside is not seen in the canonical form.
func TestCanonical_LongStringsAreAsTheyAre(t *testing.T) {
	long, other := strings.Repeat("iVBORw0KGgo+", 2000), strings.Repeat("abcd/", 3000)
	seen := 0
	for _, s := range []string{
		`"` + long + `"`, `["` + long + `","` + other + `","` + long + `"]`, `{"z":"` + long + `","a":1.50}`, `{"` + long + `" : 1,"b":"` + other + `"}`,
		`{"source":{"data":"` + long + `","mediaType":"x"},"encrypted_content":"` + other + `","cache_control":{"a":"` + long + `"}}`,
		`{"a":"` + long + `","a":"` + other + `"}`, `"` + long + `\n"`, `["` + long + `é","` + long + `<"]`, `["` + long + `\\","` + other + `"]`, `["` + long + `\"","` + other + `"]`,
		`["` + long, `["` + long + `\`, `"` + long + `" "` + other + `"`, `{"a":"` + long + `"]`, `["x` + "\x01" + long + `"]`,
	} {
		if short, l := putAside([]byte(s)); l != nil {
			if seen++; len(short) > len(s)/2 && len(l.texts) > 1 {
				t.Errorf("%.40s: %d of %d bytes are left", s, len(short), len(s))
			}
		}
		for _, as := range []Form{{}, upper} {
			got, err := as.Of([]byte(s))
			want, wantErr := as.whole([]byte(s))
			if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) {
				t.Errorf("%.40s: %.60s, %v; want %.60s, %v", s, got, err, want, wantErr)
			}
		}
	}
	if seen < 8 {
		t.Errorf("only in %d values something was put aside", seen)
	}
}

func FuzzPutAside(f *testing.F) {
	for _, s := range []string{`{"a":"~","b":["~","x"]}`, `"~`, `{"~":1}`, `["~\\","~\""]`, `{"id":"~","type":"~"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := []byte(strings.ReplaceAll(s, "~", strings.Repeat("Ab9/", longString/4)))
		got, err := upper.Of(raw)
		want, wantErr := upper.whole(raw)
		if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) {
			t.Errorf("%.100s: %.200s, %v; want %.200s, %v", s, got, err, want, wantErr)
		}
	})
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1e400,"b":[null,true,"\ud800"]}`, `[[[[`, `1 2`, `{"cache_control":1}`, `"\u0000"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := Canonical(raw)
		if err != nil {
			return
		}
		again, err := Canonical(c)
		if err != nil || string(again) != string(c) {
			t.Errorf("canonical form %q becomes %q (%v)", c, again, err)
		}
	})
}
