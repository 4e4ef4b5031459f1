package store

import (
	"context"

	"github.com/retake-debugger/retake/store/search"
)

// fewOfRuns is the usual one of a reader.
const fewOfRuns = 5000

// reader answers questions over one connection or a pool of them. DB and tx
// both are one.
type reader struct {
	st      *statements
	headers *headerSets
	recipes *sharedRecipes // nil within a transaction, which sees what others do not
	// pack gives the unpacked pack that holds a segment.
	pack func(context.Context, segmentID) (*pack, error)
	// beginning gives no more of it than it takes, perhaps, which no sum vouches for.
	beginning func(context.Context, segmentID) (*pack, error)
	limits    search.Limits
	// fewOfRuns is up to how many exchanges have their runs listed, when runs are
	// narrowed by exchanges.
	fewOfRuns int
	// cut says that the end of the file is missing: a page that was cut in two looks
	// to SQLite as if nothing followed.
	cut bool
}
