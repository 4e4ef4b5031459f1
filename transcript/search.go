package transcript

import (
	"context"
	"errors"
	"iter"
	"time"
)

// ErrNoIndex means that the search index cannot answer: the store has none, or the text
// is too short for it.
var ErrNoIndex = errors.New("not in the search index")

// Failure is the kind of an exchange's error, which a search finds like an item.
const Failure Kind = "error"

// A SearchItem is the place of an item that a search may find.
type SearchItem struct {
	Exchange int64 // number of the exchange that introduced it
	Body     string
	At       string
	// Segment is the segment of the body that holds the element with the item; 0 if it
	// has to be looked for in the whole body.
	Segment BodyID
	Kind    Kind
	Tool    string // name of the tool that is called, defined or answers
	IsError bool
	// Text is the text of the item, or a part of it. It is "" in what a search returns,
	// since the index keeps no texts.
	Text string
	// Again is how many more exchanges introduced the same shared text
	// (SearchText.Same).
	Again int
}

// SearchOverlap is by how many bytes the parts of a long folded item overlap. Of a
// longer query the index looks for no more than so many bytes.
const SearchOverlap = 96

// SearchText is a unit of the index: a few neighbouring items in the order of their
// exchanges, or a part of a long item. Longer texts make the index smaller and less
// exact.
type SearchText struct {
	Items []SearchItem
	// Same is set for a shared text: an item that many exchanges introduce alike, such
	// as a system prompt. Texts with the same key are kept and found once.
	Same Key
	// Part is set for a part of a long item: its words are in another text.
	Part bool
	// Words is set for a text that only has the words of a long item, each once, with
	// spaces between. A search for several words finds the item by it though they are in
	// different parts.
	Words bool
}

// MostExchanges is how far the numbers of a text's exchanges may reach.
const MostExchanges = 128

// Unindexed is an exchange that is not in the search index yet.
type Unindexed struct {
	N     int64
	Whole bool // its parent was removed: index all that it resends, too
}

// SearchState is the progress of the search index.
type SearchState struct {
	Index bool  // the store can have one
	Done  int64 // exchanges up to this number are in it, except those that Unindexed lists
	Lag   int64 // about how many exchanges are not in it
	Bytes int64 // while it is empty: the size of their bodies, of at most 1000
}

// fewBytes take a tenth of a second to read if most of them are resent.
const fewBytes = 64 << 20

// Few reports whether so little is stored that reading all of it is as fast as the
// index. Leaving the index empty halves such a file.
func (s *SearchState) Few() bool { return s.Done == 0 && s.Lag < 500 && s.Bytes < fewBytes }

// SearchQuery narrows a search. The zero SearchQuery takes everything.
type SearchQuery struct {
	Text   string // literal, in either case
	Words  bool   // instead all words of Text, whole, anywhere in the item
	Model  string // part of the asked or answered model's name
	Tool   string // part of the tool's name
	Run    string // id of the run; in a query that was typed, a reference to it
	Status [2]int // lowest and highest; zero for any
	Outcome
	After, Before time.Time // of the exchange; zero for any
	Errors        bool      // only items that are errors
}

// SearchReader is the reading side of the search index.
type SearchReader interface {
	// Search returns all items in the index that may match, newest first. Some do not
	// match: read the text before showing an item. ErrNoIndex if the index cannot
	// answer. The sequence ends after the first error.
	Search(ctx context.Context, q SearchQuery) iter.Seq2[SearchItem, error]
	// SearchState reports how far the index is.
	SearchState(ctx context.Context) (SearchState, error)
	// Unindexed lists at most limit exchanges that are not in the index, in the order
	// in which to index them.
	Unindexed(ctx context.Context, limit int) ([]Unindexed, error)
}

// SearchTexts is what one transaction indexes: some exchanges, or a part of one.
type SearchTexts struct {
	Exchanges []Unindexed // in the order in which Unindexed lists them
	From      int         // of a part: how many texts of the exchange precede it
	Texts     []SearchText
	Last      bool // no more follow: the exchanges are indexed
}

// SearchWriter is the writing side of the search index.
type SearchWriter interface {
	// PutTexts indexes exchanges, or a part of one; with From 0 it starts over. It does
	// nothing and returns false if one of them is indexed already or was removed, or if
	// the part does not follow the last one. ErrNoIndex if there is no index.
	PutTexts(t SearchTexts) (bool, error)
	// DropTexts removes an exchange that is about to be removed from the index, and has
	// another one that resends its history indexed with that history.
	DropTexts(exchange string) error
	// TidyTexts takes a step in maintaining the index and reports whether more is to be
	// done.
	TidyTexts() (more bool, err error)
	// DropAllTexts empties the index: every exchange is to be indexed again.
	DropAllTexts() error
}

// Bytes returns the length of the texts.
func (t *SearchTexts) Bytes() int {
	n := 0
	for i := range t.Texts {
		n += t.Texts[i].Bytes()
	}
	return n
}

// Bytes returns the length of the text.
func (t *SearchText) Bytes() int {
	n := 0
	for i := range t.Items {
		n += len(t.Items[i].Text)
	}
	return n
}
