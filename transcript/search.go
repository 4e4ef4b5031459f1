package transcript

import (
	"context"
	"errors"
	"iter"
	"time"
)

// ErrNoIndex says that the search index cannot answer: the store keeps none, or
// the text is too short for it.
var ErrNoIndex = errors.New("not in the search index")

// Failure is the kind of what an exchange failed with: no item, but found like
// one.
const Failure Kind = "error"

// A SearchItem says where an item is that a search may find.
type SearchItem struct {
	Exchange int64 // number of the exchange that brought it first
	Body     string
	At       string
	// Piece is the piece of the body (Reader.Pieces) that holds the element with
	// the item; 0 if it is to be looked for in the whole body.
	Segment BodyID
	Kind    Kind
	Tool    string // name of the tool that is called, defined or answers
	IsError bool
	// Text is what the item says, or a part of that. The index keeps no texts:
	// it is "" when the item is found.
	Text string
	// Again is how many more exchanges brought the same, of a text that is kept
	// once (SearchText.Same).
	Again int
}

// SearchOverlap is by how many bytes the parts of a long folded item overlap: of a
// longer query the index looks for no more than the beginning.
const SearchOverlap = 96

// SearchText is what the index tells apart: a few items that stand together, of
// neighbouring exchanges in their order, or a part of a long item. Fewer and longer
// texts make a smaller index, and more to read in vain.
type SearchText struct {
	Items []SearchItem
	// Same is set for an item that many exchanges bring alike, such as a system
	// prompt: a text with the same key is kept once, and found once.
	Same Key
	// Words is set for a text that holds the words of a long item alone, each
	// once, parted by spaces, so that a search for several of them finds it though
	// they are in different parts.
	Words bool
}

// MostExchanges is of how many exchanges a text may be at most: of the first
// number and those that follow it.
const MostExchanges = 128

// Unindexed is an exchange that the search index does not hold yet.
type Unindexed struct {
	N     int64
	Whole bool // the exchange that it continues was removed: what it resends counts as its own
}

// SearchState says how far the search index is.
type SearchState struct {
	Index bool  // the store keeps one
	Done  int64 // every exchange up to this number is in it, but for those that Unindexed tells
	Lag   int64 // about how many exchanges are not in it
	Bytes int64 // while it is empty: how long the bodies of these are, of at most 1000
}

// fewBytes are read in a tenth of a second when most of them are resent.
const fewBytes = 64 << 20

// Few reports whether so little is stored that a search reads all of it as fast as
// the index. To leave the index empty then halves the size of the file.
func (s *SearchState) Few() bool { return s.Done == 0 && s.Lag < 500 && s.Bytes < fewBytes }

// SearchQuery narrows a search. The zero SearchQuery takes everything.
type SearchQuery struct {
	Text   string // every character stands for itself; letters in either case
	Words  bool   // rather all words of Text, whole, anywhere in the item
	Model  string // part of the asked or answered model's name
	Tool   string // part of the tool's name
	Run    string // id of the run; of a query that somebody typed, a reference to it
	Status [2]int // lowest and highest; zero for any
	Outcome
	After, Before time.Time // of the exchange; zero for any
	Errors        bool      // only items that are errors
}

// SearchReader is the reading side of the search index.
type SearchReader interface {
	// Search returns all items in the index that may match, newest first, and a
	// few that do not: read the text of an item before showing it. ErrNoIndex if
	// the index cannot answer. The sequence ends after the first error.
	Search(ctx context.Context, q SearchQuery) iter.Seq2[SearchItem, error]
	// SearchState reports how far the index is.
	SearchState(ctx context.Context) (SearchState, error)
	// Unindexed lists at most limit exchanges that are not in the index, in the
	// order in which to index them.
	Unindexed(ctx context.Context, limit int) ([]Unindexed, error)
}

// SearchTexts is what is indexed of some exchanges, or a part of one.
type SearchTexts struct {
	Exchanges []Unindexed // in the order in which Unindexed lists them
	From      int         // of a part: how many texts of the exchange came before
	Texts     []SearchText
	Last      bool // no more follow: the exchanges are indexed
}

// SearchWriter is the writing side of the search index.
type SearchWriter interface {
	// PutTexts indexes exchanges, or a part of one; with From 0 it begins anew.
	// It says false, and does nothing, if one of them is indexed already or the
	// part before is not the last that was put. ErrNoIndex if there is none.
	PutTexts(t SearchTexts) (bool, error)
	// DropTexts removes what the index holds of an exchange that is about to be
	// removed, and lets another one that resends its history bring that history.
	DropTexts(exchange string) error
	// TidyTexts takes a step in removing what is of no use any more and in merging
	// what the index was put together from, and reports whether more is to be done.
	TidyTexts() (more bool, err error)
	// DropAllTexts empties the index: every exchange is to be indexed again.
	DropAllTexts() error
}

// Bytes is how long the texts are.
func (t *SearchTexts) Bytes() int {
	n := 0
	for i := range t.Texts {
		n += t.Texts[i].Bytes()
	}
	return n
}

// Bytes is how long the text is.
func (t *SearchText) Bytes() int {
	n := 0
	for i := range t.Items {
		n += len(t.Items[i].Text)
	}
	return n
}
