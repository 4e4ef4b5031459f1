package rawjson

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// TestExtentReached holds where a value ends, cut into parts at random, against
// what the JSON decoder says of each beginning.
func TestExtentReached(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text := []byte(`{"a":"`)
		for range r.IntN(12) {
			text = append(text, []string{`\\`, `\"`, `x`, `{`, `]`, `\n`, `\\\"`}[r.IntN(7)]...)
		}
		text = append(text, `","b":[1,"}"]}`...)
		if !json.Valid(text) {
			t.Fatalf("the test made %s", text)
		}
		var x Extent
		for at := 0; at < len(text); {
			end := min(len(text), at+1+r.IntN(5))
			if got, want := x.Reached(text[at:end]), json.Valid(text[:end]); got != want {
				t.Fatalf("%s: reached at %d is %v", text, end, got)
			}
			at = end
		}
	}
}
