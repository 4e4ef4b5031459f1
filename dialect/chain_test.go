package dialect

import (
	"strings"
	"testing"

	"github.com/retake-debugger/retake/transcript"
)

// chainKeys are the keys of the items that count for a history.
func chainKeys(items []transcript.Item) (keys []transcript.Key, kept []*transcript.Item) {
	for i := range items {
		if items[i].InChain() {
			keys = append(keys, transcript.KeyOf(&items[i]))
			kept = append(kept, &items[i])
		}
	}
	return keys, kept
}

// Where a request of the corpus holds the history of an earlier exchange of
// its file and more, the answer of that exchange must come next, with equal
// keys. Some recorded clients change what they send back; those are listed.
func TestCorpus_AnswersComeBackWithEqualKeys(t *testing.T) {
	type step struct {
		key     string
		dialect transcript.Dialect
		turn    *transcript.Turn
	}
	files := map[string][]step{}
	for _, x := range corpusCases(t) {
		if _, ok := corpusDialects[x.want.Family]; !ok || x.want.Depth != "full" {
			continue
		}
		file, _, _ := strings.Cut(x.key, "#")
		d := Recognise(x.wire)
		files[file] = append(files[file], step{x.key, d, Decode(d, x.wire)})
	}
	extended, equal := 0, 0
	for _, steps := range files {
		for i, a := range steps {
			in, _ := chainKeys(a.turn.Input)
			out, outItems := chainKeys(a.turn.Output)
			if len(in) == 0 || len(out) == 0 {
				continue
			}
			for _, b := range steps[i+1:] {
				next, nextItems := chainKeys(b.turn.Input)
				if b.dialect != a.dialect || len(next) < len(in)+len(out) || !samePrefix(in, next) {
					continue
				}
				extended++
				rest := next[len(in):]
				if samePrefix(out, rest) {
					equal++
				} else {
					for k := range out {
						if out[k] != rest[k] {
							t.Logf("%s → %s: answer %s %.300s\n   came back as %s %.300s", a.key, b.key, outItems[k].At, outItems[k].Raw, nextItems[len(in)+k].At, nextItems[len(in)+k].Raw)
							break
						}
					}
				}
				break
			}
		}
	}
	if extended == 0 {
		t.Fatal("no case found: no request extends another")
	}
	t.Logf("%d of %d answers come back with equal keys", equal, extended)
	if equal*100 < extended*90 {
		t.Errorf("only %d of %d answers come back with equal keys", equal, extended)
	}
}

func samePrefix(a, b []transcript.Key) bool {
	if len(a) > len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
