package analysis

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/retake-debugger/retake/rawjson"
)

// A Difference is a value in which two JSON documents differ. nil means that a side
// has no value there.
type Difference struct {
	At  string          `json:"at"` // JSON pointer; into the first document where both have it
	Was json.RawMessage `json:"was"`
	Now json.RawMessage `json:"now"`
}

// DiffJSON compares two JSON values. Numbers are compared by all their digits and
// shown as they are written. The order of members does not count, the order of
// elements does. ok is false if one of the two is not JSON.
func DiffJSON(a, b []byte) (list []Difference, ok bool) {
	x, errA := rawjson.Decode(a)
	y, errB := rawjson.Decode(b)
	if errA != nil || errB != nil {
		return nil, false
	}
	var d jsonDiff
	d.values("", x, y)
	return d.list, true
}

type jsonDiff struct{ list []Difference }

func (d *jsonDiff) values(at string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			d.objects(at, x, y)
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			d.arrays(at, x, y)
			return
		}
	}
	if canonicalOf(a) != canonicalOf(b) {
		d.list = append(d.list, Difference{at, rawOf(a), rawOf(b)})
	}
}

func (d *jsonDiff) objects(at string, a, b map[string]any) {
	names := slices.Sorted(maps.Keys(a))
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		x, inA := a[name]
		y, inB := b[name]
		under := at + "/" + rawjson.EscapeToken(name)
		switch {
		case !inB:
			d.list = append(d.list, Difference{At: under, Was: rawOf(x)})
		case !inA:
			d.list = append(d.list, Difference{At: under, Now: rawOf(y)})
		default:
			d.values(under, x, y)
		}
	}
}

// arrays aligns equal elements. Between two aligned ones, elements at the same
// distance are versions of each other.
func (d *jsonDiff) arrays(at string, a, b []any) {
	i, k := 0, 0
	for _, p := range append(Align(canonicals(a), canonicals(b)), [2]int{len(a), len(b)}) {
		for ; i < p[0] && k < p[1]; i, k = i+1, k+1 {
			d.values(at+"/"+strconv.Itoa(i), a[i], b[k])
		}
		for ; i < p[0]; i++ {
			d.list = append(d.list, Difference{At: at + "/" + strconv.Itoa(i), Was: rawOf(a[i])})
		}
		for ; k < p[1]; k++ {
			d.list = append(d.list, Difference{At: at + "/" + strconv.Itoa(k), Now: rawOf(b[k])})
		}
		i, k = p[0]+1, p[1]+1
	}
}

func canonicals(list []any) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = canonicalOf(list[i])
	}
	return out
}

func canonicalOf(v any) string {
	text, err := rawjson.CanonicalText(v)
	if err != nil {
		return ""
	}
	return text
}

// rawOf returns a value as JSON. Numbers keep their digits.
func rawOf(v any) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}
