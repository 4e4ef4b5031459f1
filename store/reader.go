package store

import (
	"github.com/retake-debugger/retake/store/search"
	"github.com/retake-debugger/retake/store/segment"
)

// fewOfRuns is the usual one of a reader.
const fewOfRuns = 5000

// reader answers questions over one connection or a pool of them. DB and tx
// both are one.
type reader struct {
	st      *statements
	headers *headerSets
	bodies  *segment.Reader
	limits  search.Limits
	// fewOfRuns is up to how many exchanges have their runs listed, when runs are
	// narrowed by exchanges.
	fewOfRuns int
	// cut says that the end of the file is missing: a page that was cut in two looks
	// to SQLite as if nothing followed.
	cut bool
}
