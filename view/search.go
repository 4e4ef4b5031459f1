package view

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

// Hit is an item that a search found, at the exchange that introduced it.
type Hit struct {
	Exchange  string             `json:"exchange"`
	N         int64              `json:"n"`
	StartedAt *time.Time         `json:"started_at"` // nil: not known
	Outcome   transcript.Outcome `json:"outcome"`
	Model     string             `json:"model"`
	Run       string             `json:"run"`
	RunRef    string             `json:"run_ref"`  // "" if it is in none
	RunName   string             `json:"run_name"` // what the run is about
	Body      string             `json:"body"`     // "request" or "response"
	At        string             `json:"at"`       // JSON pointer there
	Kind      transcript.Kind    `json:"kind"`     // of the item; "error" for what the exchange failed with
	Role      string             `json:"role"`
	Name      string             `json:"name"` // of the tool that is called, defined or answers
	CallID    string             `json:"call_id"`
	IsError   bool               `json:"is_error"`
	Field     string             `json:"field"`  // where in the item: "text", "arguments", "name", "call_id" or "raw"
	Offset    int                `json:"offset"` // bytes in that field before the match
	Count     int                `json:"count"`  // how often it is in that field
	Snippet   Snippet            `json:"snippet"`
	Again     int                `json:"again"`  // how many more exchanges introduced the same setting
	Replay    bool               `json:"replay"` // the exchange is of a replay
	// Replays is how many replays of the run say the same, among what was searched. The
	// hit is the original if the search found that as well.
	Replays int `json:"replays"`
}

// Ref returns the short reference of the hit's exchange.
func (h *Hit) Ref() string { return Ref(h.N) }

// Snippet is the text around a match. Before and After are cut.
type Snippet struct {
	Before string `json:"before"`
	Match  string `json:"match"`
	After  string `json:"after"`
}

// Search is what to look for and how much of it to show.
type Search struct {
	transcript.SearchQuery
	Limit int  // 0 for all
	Best  bool // best first instead of newest first
	Each  bool // show repetitions in replays as hits of their own
}

// BestOf is how many of the newest hits are compared for the best, unless more are
// wanted. Each has to be read.
const BestOf = 250

// Found is what a search found.
type Found struct {
	Hits []Hit
	More bool // there are more than Limit
	// Compared is how many hits were compared for the best.
	Compared int
	// Unindexed is how many exchanges were read because they are not in the index yet.
	// 0 if the index is empty because there are few.
	Unindexed int64
	// Scan is the reason for reading all exchanges: "no index" or "short"; "" if the
	// index answered.
	Scan string
}

// Find searches. It returns an item once, however often it is sent again, and
// repetitions in replays once for their run.
func Find(ctx context.Context, r transcript.Reader, s Search) (*Found, error) {
	if s.Run != "" {
		run, err := ResolveRun(ctx, r, s.Run)
		if err != nil {
			return nil, err
		}
		s.Run = run.ID
	}
	f := &finder{ctx: ctx, reader: r, search: s, match: transcript.NewMatcher(s.SearchQuery), shown: map[place]bool{}, settings: map[transcript.Key]bool{},
		folds: folds{map[content]int{}, map[content]int64{}}}
	f.most = math.MaxInt
	if s.Limit > 0 {
		f.most = s.Limit + 1 // to know whether there are more
	}
	if s.Best {
		f.most = max(BestOf, s.Limit)
	}
	found := &Found{}
	err := f.run(found)
	if err != nil && !errors.Is(err, errFull) {
		return nil, err
	}
	found.Hits = f.hits
	// Texts that were indexed together may be a little out of order.
	slices.SortStableFunc(found.Hits, func(a, b Hit) int { return cmp.Compare(b.N, a.N) })
	if s.Best {
		found.Compared = len(found.Hits)
		slices.SortStableFunc(found.Hits, func(a, b Hit) int { return cmp.Compare(f.scores[b.place()], f.scores[a.place()]) })
	}
	if s.Limit > 0 && len(found.Hits) > s.Limit {
		found.Hits, found.More = found.Hits[:s.Limit], true
	}
	if found.Hits == nil {
		found.Hits = []Hit{}
	}
	return found, nameRuns(ctx, r, found.Hits)
}

// nameRuns sets the runs of hits.
func nameRuns(ctx context.Context, r transcript.Reader, hits []Hit) error {
	seen := map[string]*transcript.RunSum{}
	var ids []string
	for i := range hits {
		if id := hits[i].Run; id != "" && seen[id] == nil {
			seen[id], ids = &transcript.RunSum{}, append(ids, id)
		}
	}
	list, err := r.RunNames(ctx, ids)
	if err != nil {
		return ignoreLost(err)
	}
	for i := range list {
		seen[list[i].ID] = &list[i]
	}
	for i := range hits {
		if run := seen[hits[i].Run]; run != nil && run.N > 0 {
			hits[i].RunRef = RunRef(run.N)
			name, by := nameOf(run)
			hits[i].RunName = titled(name, by, run.Topic)
		}
	}
	return nil
}

// errFull ends a search that has enough.
var errFull = errors.New("enough")

type place struct {
	n        int64
	body, at string
}

func (h *Hit) place() place { return place{h.N, h.Body, h.At} }

type finder struct {
	ctx      context.Context
	reader   transcript.Reader
	search   Search
	match    transcript.Matcher
	most     int
	hits     []Hit
	scores   map[place]float64
	shown    map[place]bool
	settings map[transcript.Key]bool // system prompts and tools that were shown
	folds    folds
}

func (f *finder) run(found *Found) error {
	index := f.readIndex()
	defer index.stop()
	state, err := f.reader.SearchState(f.ctx)
	if err != nil {
		return err
	}
	if !state.Index {
		index.stop()
		found.Scan = "no index"
		return f.scanAll()
	}
	g, err := index.next()
	if errors.Is(err, transcript.ErrNoIndex) {
		found.Scan = "short"
		return f.scanAll()
	}
	if err == nil {
		if !state.Few() {
			found.Unindexed = state.Lag
		}
		err = f.scanUnindexed(state)
	}
	for ; g != nil && err == nil; g, err = index.next() {
		before := len(f.hits)
		for i := range g.found {
			if err := f.show(&g.found[i]); err != nil {
				return err
			}
		}
		index.allow(len(g.items) - (len(f.hits) - before))
	}
	return err
}

// candidate is an item that matches. It may have been shown already.
type candidate struct {
	hit     Hit
	score   float64        // if the best are wanted
	setting transcript.Key // the content of a setting
	content content        // of anything else
}

// candidate compares an item with the query.
func (f *finder) candidate(e *transcript.Exchange, b transcript.IntroducedItem, again int) (candidate, bool) {
	it := b.Item
	q := &f.search.SearchQuery
	if q.Errors && !it.IsError || q.Tool != "" && !strings.Contains(strings.ToLower(b.Tool), strings.ToLower(q.Tool)) {
		return candidate{}, false
	}
	match, ok := f.match.Find(it.Fields())
	if !ok {
		return candidate{}, false
	}
	c := candidate{hit: Hit{Exchange: e.ID, N: e.N, StartedAt: known(e.StartedAt), Outcome: e.Outcome, Model: e.ResponseModel, Run: e.Link.Run, Body: b.Body, At: it.At,
		Kind: it.Kind, Role: it.Role, Name: b.Tool, CallID: it.CallID, IsError: it.IsError,
		Field: match.Field.Name, Offset: match.Start, Count: match.Count, Snippet: snippet(match), Again: again, Replay: e.Link.Replay}}
	if c.hit.Model == "" {
		c.hit.Model = e.Model
	}
	if it.IsSetting() {
		c.setting = transcript.ContentKey(it)
	} else {
		c.content = contentOf(e, it, b.Tool)
	}
	if f.search.Best {
		c.score = score(match, it)
	}
	return c, true
}

// show adds a hit, unless the item, the same setting or a repetition in a replay is shown
// already.
func (f *finder) show(c *candidate) error {
	p := c.hit.place()
	if f.shown[p] || c.setting != (transcript.Key{}) && f.settings[c.setting] {
		return nil
	}
	if c.setting != (transcript.Key{}) {
		f.settings[c.setting] = true
	}
	f.shown[p] = true
	if f.search.Best {
		if f.scores == nil {
			f.scores = map[place]float64{}
		}
		f.scores[p] = c.score
	}
	if f.fold(c) {
		return nil
	}
	f.hits = append(f.hits, c.hit)
	if len(f.hits) >= f.most {
		return errFull
	}
	return nil
}

// score rates a match: whole words, many matches, short texts, and what was said or done
// rather than settings.
func score(m transcript.Hit, it *transcript.Item) float64 {
	s := math.Log2(1+float64(m.Count)) - math.Log2(1+float64(len(m.Field.Text))/1000)/2
	if m.WholeWord {
		s += 2
	}
	switch it.Kind {
	case transcript.System, transcript.ToolDefinition:
		s -= 3
	case transcript.MessageItem, transcript.Failure:
		s++
	}
	return s
}

const (
	snippetBefore = 80 // bytes
	snippetAfter  = 240
	snippetMatch  = 240
)

func snippet(m transcript.Hit) Snippet {
	text := m.Field.Text
	from := m.Start - snippetBefore
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	// Clones: the text may be large.
	return Snippet{
		Before: strings.Clone(text[max(from, 0):m.Start]),
		Match:  strings.Clone(transcript.Head(text[m.Start:m.End], snippetMatch)),
		After:  strings.Clone(transcript.Head(text[m.End:], snippetAfter)),
	}
}
