package analysis

import (
	"crypto/sha256"
	"github.com/retake-debugger/retake/transcript"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An Act is what a diff aligns: an item, or a call with its result.
type Act struct {
	Item   *transcript.Item
	Result *transcript.Item // of a call; nil if it has none
	Depth  int              // how many calls of other agents it lies under
}

// Fate says what became of an act in the other conversation.
type Fate string

// The fates of acts.
const (
	Same    Fate = "same"
	Changed Fate = "changed" // the other side has it with another text, arguments or result
	Added   Fate = "added"
	Removed Fate = "removed"
)

// Aligned is one line of a diff: which act of either side, -1 for none.
type Aligned struct {
	A, B int
	Fate Fate
	// Moved says that an added act was removed elsewhere, or the reverse.
	Moved bool
}

// Sameness says what counts when acts are compared.
type Sameness struct {
	Exact  bool // timestamps and ids in system prompts and results count too
	Errors bool // the error mark of results counts: both APIs can carry it
	Parts  bool // what is not text is compared by its JSON: both speak one API
}

// AlignActs aligns two conversations by what is said and done, not by position:
// first what is the same on both sides, between that the same calls with other
// results, between those what is most alike.
func AlignActs(a, b []Act, s Sameness) []Aligned {
	al := acts{a: a, b: b, s: s}
	al.level(0, 0, len(a), 0, len(b))
	al.findMoved()
	return al.list
}

// A level is by what acts are aligned, between what the level before has aligned.
type level struct {
	fate   Fate
	whole  bool // the results count
	steady bool // what programs write anew each time does not
}

func (s Sameness) levels() []level {
	if s.Exact {
		return []level{{Same, true, false}, {Changed, false, false}}
	}
	return []level{{Same, true, false}, {Same, true, true}, {Changed, false, true}}
}

type acts struct {
	a, b []Act
	s    Sameness
	list []Aligned
}

// level aligns a stretch at a level, and at the next ones what lies between.
func (al *acts) level(n, x, xEnd, y, yEnd int) {
	if x == xEnd || y == yEnd {
		al.apart(x, xEnd, y, yEnd)
		return
	}
	levels := al.s.levels()
	if n == len(levels) {
		al.alike(x, xEnd, y, yEnd)
		return
	}
	keysA, keysB := al.s.keys(al.a[x:xEnd], levels[n]), al.s.keys(al.b[y:yEnd], levels[n])
	pairs := Align(keysA, keysB)
	meet(pairs, keysA, keysB)
	ownCalls(pairs, al.a[x:xEnd], al.b[y:yEnd], keysA, keysB)
	fromX, fromY := x, y
	for _, p := range pairs {
		i, k := fromX+p[0], fromY+p[1]
		al.level(n+1, x, i, y, k)
		al.add(i, k, levels[n].fate)
		x, y = i+1, k+1
	}
	al.level(n+1, x, xEnd, y, yEnd)
}

// keys are the keys by which acts are the same at a level.
func (s Sameness) keys(list []Act, by level) []transcript.Key {
	keys := make([]transcript.Key, len(list))
	var h transcript.KeyHash
	for i := range list {
		h.Buf = h.Buf[:0]
		h.Field(strconv.Itoa(list[i].Depth))
		s.hash(&h, list[i].Item, by.steady)
		if by.whole && list[i].Result != nil {
			s.hash(&h, list[i].Result, by.steady)
		}
		sum := sha256.Sum256(h.Buf)
		keys[i] = transcript.Key(sum[:16])
	}
	return keys
}

func (s Sameness) hash(h *transcript.KeyHash, it *transcript.Item, steady bool) {
	h.Field(string(it.Kind))
	if it.Kind == transcript.MessageItem {
		h.Field(it.Role)
	}
	if it.Kind == transcript.Other {
		h.Field(transcript.HashOther(it.Raw))
		return
	}
	text := textOf(it)
	if steady && (it.Kind == transcript.System || it.Kind == transcript.ToolResult) {
		text = Normalise(text)
	}
	h.Field(text)
	if it.Kind != transcript.ToolResult {
		h.Field(it.Name)
	}
	h.Field(transcript.CanonicalArguments(it))
	if s.Errors && it.IsError {
		h.Field("error")
	}
	for _, p := range it.Parts {
		if !s.Parts {
			p = "part"
		}
		h.Field(p)
	}
}

// textOf is the text of an item as it is compared: white space around it does
// not count, in system prompts none does.
func textOf(it *transcript.Item) string {
	if it.Kind == transcript.System {
		return strings.Join(strings.Fields(it.Text), " ")
	}
	return strings.TrimSpace(it.Text)
}

// volatile is what programs write anew each time: a day with a time, a UUID, a
// temporary file.
var volatile = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?( ?(Z|UTC|[+-]\d\d:?\d\d))?|` +
	`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|` +
	`\b(call|toolu|msg|resp|chatcmpl|fc|rs)_[0-9A-Za-z]{12,}`)

// Normalise gives a text without what programs write anew each time.
func Normalise(text string) string {
	if !strings.ContainsAny(text, "-_") {
		return text
	}
	return volatile.ReplaceAllString(text, "…")
}

func (al *acts) add(i, k int, f Fate) { al.list = append(al.list, Aligned{A: i, B: k, Fate: f}) }

// findMoved marks what was removed here and added there.
func (al *acts) findMoved() {
	last := al.s.levels()
	by := level{whole: true, steady: last[len(last)-1].steady}
	removed := map[transcript.Key][]int{}
	for n, l := range al.list {
		if l.Fate == Removed {
			key := al.s.keys(al.a[l.A:l.A+1], by)[0]
			removed[key] = append(removed[key], n)
		}
	}
	for n, l := range al.list {
		if l.Fate != Added || len(removed) == 0 {
			continue
		}
		key := al.s.keys(al.b[l.B:l.B+1], by)[0]
		if from := removed[key]; len(from) > 0 {
			al.list[n].Moved, al.list[from[0]].Moved = true, true
			removed[key] = from[1:]
		}
	}
}

// mostHeld bounds how many pairs of acts are held against each other in a
// stretch without anything in common.
const mostHeld = 40_000

// alike pairs the acts of a stretch that are most alike, in order, so that all
// likeness together is greatest.
func (al *acts) alike(x, xEnd, y, yEnd int) {
	rows, columns := xEnd-x, yEnd-y
	if rows > 0 && columns > 0 && rows*columns <= mostHeld {
		for _, p := range al.best(x, xEnd, y, yEnd) {
			al.apart(x, p[0], y, p[1])
			al.add(p[0], p[1], Changed)
			x, y = p[0]+1, p[1]+1
		}
	} else if rows > 0 && columns > 0 {
		a, b := kinds(al.a[x:xEnd]), kinds(al.b[y:yEnd])
		i, k := x, y
		for _, p := range Align(a, b) {
			al.apart(x, i+p[0], y, k+p[1])
			al.add(i+p[0], k+p[1], Changed)
			x, y = i+p[0]+1, k+p[1]+1
		}
	}
	al.apart(x, xEnd, y, yEnd)
}

func (al *acts) apart(x, xEnd, y, yEnd int) {
	for ; x < xEnd; x++ {
		al.add(x, -1, Removed)
	}
	for ; y < yEnd; y++ {
		al.add(-1, y, Added)
	}
}

// best gives the pairs of the greatest likeness altogether.
func (al *acts) best(x, xEnd, y, yEnd int) [][2]int {
	a, b := sketches(al.a[x:xEnd]), sketches(al.b[y:yEnd])
	width := len(b) + 1
	sum := make([]float64, (len(a)+1)*width)
	likeness := make([]float64, len(a)*len(b))
	for i := len(a) - 1; i >= 0; i-- {
		for k := len(b) - 1; k >= 0; k-- {
			like := a[i].like(&b[k])
			likeness[i*len(b)+k] = like
			best := max(sum[(i+1)*width+k], sum[i*width+k+1])
			if like > 0 {
				best = max(best, like+sum[(i+1)*width+k+1])
			}
			sum[i*width+k] = best
		}
	}
	var pairs [][2]int
	for i, k := 0, 0; i < len(a) && k < len(b); {
		like := likeness[i*len(b)+k]
		switch {
		case like > 0 && sum[i*width+k] == like+sum[(i+1)*width+k+1]:
			pairs = append(pairs, [2]int{x + i, y + k})
			i, k = i+1, k+1
		case sum[(i+1)*width+k] >= sum[i*width+k+1]:
			i++
		default:
			k++
		}
	}
	return pairs
}

// what an act is, whatever it says.
type actKind struct {
	depth      int
	kind       transcript.Kind
	role, name string
}

func kindOf(a *Act) actKind {
	k := actKind{depth: a.Depth, kind: a.Item.Kind, name: a.Item.Name}
	if k.kind == transcript.MessageItem {
		k.role = a.Item.Role
	}
	if k.kind == transcript.ToolResult {
		k.name = ""
	}
	return k
}

func kinds(list []Act) []actKind {
	out := make([]actKind, len(list))
	for i := range list {
		out[i] = kindOf(&list[i])
	}
	return out
}

// sketch is an act in short, to tell how alike two are.
type sketch struct {
	kind   actKind
	text   []uint32 // hashes of its words, sorted, each once
	result []uint32
}

// mostWords bounds the words of a text by which it is held against others.
const mostWords = 400

func sketches(list []Act) []sketch {
	out := make([]sketch, len(list))
	for i := range list {
		a := &list[i]
		out[i] = sketch{kind: kindOf(a), text: wordHashes(a.Item.Text + " " + a.Item.ArgumentsRaw)}
		if a.Result != nil {
			out[i].result = wordHashes(a.Result.Text)
		}
	}
	return out
}

func wordHashes(text string) []uint32 {
	var list []uint32
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !transcript.IsWordRune(r) }) {
		if list = append(list, uint32(transcript.HashText(w))); len(list) == mostWords {
			break
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// like is 0 for acts that can be no version of each other, and from 1 to 2 for
// others: what they call or say counts more than what came of it.
func (s *sketch) like(o *sketch) float64 {
	if s.kind != o.kind {
		return 0
	}
	if s.result == nil || o.result == nil {
		return 1 + shared(s.text, o.text)
	}
	return 1 + 0.8*shared(s.text, o.text) + 0.2*shared(s.result, o.result)
}

// shared is the part of two lists that both have.
func shared(a, b []uint32) float64 {
	both, i, k := 0, 0, 0
	for i < len(a) && k < len(b) {
		switch {
		case a[i] == b[k]:
			both, i, k = both+1, i+1, k+1
		case a[i] < b[k]:
			i++
		default:
			k++
		}
	}
	if len(a)+len(b) == both {
		return 1
	}
	return float64(both) / float64(len(a)+len(b)-both)
}
