package store

import (
	"context"
	"database/sql"
	"sync"
)

// sharedRecipes is a recipeCache for several goroutines; nil keeps nothing. A
// body that was removed since may still be found: its segments are not. What it
// gives is not to be changed.
type sharedRecipes struct {
	mu    sync.Mutex
	cache recipeCache
	ahead map[int64]storedRecipe // read ahead
	last  int64                  // number of the one asked for last
}

// storedRecipe is a recipe as a row holds it.
type storedRecipe struct {
	base   int64
	recipe []byte
}

// recipesAhead is how many recipes are read at once by whoever asks for one after
// the other.
const recipesAhead = 32

// recipeRow reads a recipe; sql.ErrNoRows if there is none.
func (r *reader) recipeRow(ctx context.Context, n int64) (base int64, recipe []byte, err error) {
	ahead, found, inOrder := r.recipes.readAhead(n)
	if found {
		return ahead.base, ahead.recipe, nil
	}
	if !inOrder {
		err := r.st.row(ctx, "SELECT base, recipe FROM body WHERE n = ?", []any{n}, &base, &recipe)
		return base, recipe, err
	}
	rows := map[int64]storedRecipe{}
	err = r.st.rows(ctx, "SELECT n, base, recipe FROM body WHERE n >= ? ORDER BY n LIMIT ?", []any{n, recipesAhead}, func(row *sql.Rows) error {
		var number int64
		var s storedRecipe
		if err := row.Scan(&number, &s.base, &s.recipe); err != nil {
			return err
		}
		rows[number] = s
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	s, ok := rows[n]
	if !ok {
		return 0, nil, sql.ErrNoRows
	}
	r.recipes.keepAhead(rows)
	return s.base, s.recipe, nil
}

// readAhead gives a recipe that was read ahead, and tells whether recipes are
// asked for in their order.
func (s *sharedRecipes) readAhead(n int64) (row storedRecipe, found, inOrder bool) {
	if s == nil {
		return row, false, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	inOrder = n > s.last && n-s.last < recipesAhead
	s.last = n
	row, found = s.ahead[n]
	return row, found, inOrder
}

func (s *sharedRecipes) keepAhead(rows map[int64]storedRecipe) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = rows
}

func (s *sharedRecipes) find(n int64) (*segmentList, bool) {
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cache.find(n)
}

func (s *sharedRecipes) keep(n int64, ids *segmentList) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.cache.find(n); !ok { // another one may have read it meanwhile
		s.cache.keep(n, ids)
	}
}
