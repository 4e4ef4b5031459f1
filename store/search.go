package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/retake-debugger/retake/store/search"
	"github.com/retake-debugger/retake/transcript"
)

// searchDB is what the search index is kept in.
type searchDB struct{ *statements }

func (s searchDB) Exec(query string, args ...any) (sql.Result, error) { return s.exec(query, args...) }

func (s searchDB) Row(ctx context.Context, query string, args []any, dest ...any) error {
	return s.row(ctx, query, args, dest...)
}

func (s searchDB) Rows(ctx context.Context, query string, args []any, each func(*sql.Rows) error) error {
	return s.rows(ctx, query, args, each)
}

// SearchState reports how far the index is.
func (r *reader) SearchState(ctx context.Context) (transcript.SearchState, error) {
	return search.State(ctx, searchDB{r.st})
}

// Unindexed lists exchanges that the index does not hold.
func (r *reader) Unindexed(ctx context.Context, limit int) ([]transcript.Unindexed, error) {
	return search.Unindexed(ctx, searchDB{r.st}, limit)
}

// Search returns all items in the index that may match, newest first.
func (r *reader) Search(ctx context.Context, q transcript.SearchQuery) iter.Seq2[transcript.SearchItem, error] {
	return search.Find(ctx, searchDB{r.st}, r.limits, packID, q)
}

func (t *tx) index() *search.Index {
	key := func(same transcript.Key) int64 { return t.w.lookup.key(findText, same[:]) }
	return &search.Index{DB: searchDB{t.st}, Key: key, Enough: t.enough}
}

// PutTexts indexes exchanges, or a part of one.
func (t *tx) PutTexts(p transcript.SearchTexts) (bool, error) {
	if err := t.open(); err != nil {
		return false, err
	}
	return t.index().Put(&p)
}

// DropTexts removes what the index holds of an exchange that is about to be removed.
func (t *tx) DropTexts(exchange string) error {
	if err := t.open(); err != nil {
		return err
	}
	var n int64
	err := t.st.row(context.Background(), "SELECT n FROM exchange WHERE id = ?", []any{packID(exchange)}, &n)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = t.index().Drop([]int64{n})
	}
	if err != nil {
		return fmt.Errorf("drop texts of exchange %s: %w", exchange, err)
	}
	return nil
}

// TidyTexts takes a step in tidying the index.
func (t *tx) TidyTexts() (more bool, err error) {
	if err := t.open(); err != nil {
		return false, err
	}
	return t.index().Tidy()
}

// DropAllTexts empties the index.
func (t *tx) DropAllTexts() error {
	if err := t.open(); err != nil {
		return err
	}
	return t.index().DropAll()
}
