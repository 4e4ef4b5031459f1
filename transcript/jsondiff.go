package transcript

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Difference is a value that two JSON documents do not have alike. nil: that
// side has none there.
type Difference struct {
	At  string          `json:"at"` // JSON pointer; into the first document where both have it
	Was json.RawMessage `json:"was"`
	Now json.RawMessage `json:"now"`
}

// DiffJSON holds two JSON values against each other. Numbers are compared by all
// their digits and shown as they were written; the order of members does not
// count, that of elements does. It is not ok if one of them is no JSON.
func DiffJSON(a, b []byte) (list []Difference, ok bool) {
	x, okA := decoded(a)
	y, okB := decoded(b)
	if !okA || !okB {
		return nil, false
	}
	var d jsonDiff
	d.values("", x, y)
	return d.list, true
}

func decoded(raw []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, err == io.EOF
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
		under := at + "/" + pointerToken(name)
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

// arrays aligns elements that are equal; between them, those at the same
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
	var out bytes.Buffer
	if err := (canonical{}).write(&out, v); err != nil {
		return ""
	}
	return out.String()
}

// rawOf writes a value; its numbers keep their digits.
func rawOf(v any) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}

func pointerToken(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
