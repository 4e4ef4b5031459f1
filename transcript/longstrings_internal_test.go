package transcript

import (
	"bytes"
	"strings"
	"testing"
)

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
		for _, as := range []canonical{{}, {api: true}, {api: true, item: true}} {
			got, err := as.of([]byte(s))
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
		got, err := canonical{api: true, item: true}.of(raw)
		want, wantErr := canonical{api: true, item: true}.whole(raw)
		if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) {
			t.Errorf("%.100s: %.200s, %v; want %.200s, %v", s, got, err, want, wantErr)
		}
	})
}
