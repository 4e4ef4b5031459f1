package segment

import (
	"context"
	"errors"
	"sync"
)

// Recipes is a RecipeCache for several goroutines; nil keeps nothing. A
// body that was removed since may still be found: its segments are not. What it
// returns must not be changed.
type Recipes struct {
	mu    sync.Mutex
	cache RecipeCache
	ahead map[int64]Recipe // read ahead
	last  int64            // number of the one asked for last
}

// Recipe is a recipe as a row holds it.
type Recipe struct {
	Base, Step int64
	Recipe     []byte
}

var errNoRecipe = errors.New("a stored recipe is missing")

// recipesAhead is how many recipes are read at once when they are asked for one after the
// other.
const recipesAhead = 32

// Row reads a recipe; errNoRecipe if there is none.
func (s *Recipes) Row(ctx context.Context, from Rows, n int64) (Recipe, error) {
	ahead, found, inOrder := s.readAhead(n)
	if found {
		return ahead, nil
	}
	many := 1
	if inOrder {
		many = recipesAhead
	}
	list := make(map[int64]Recipe, many)
	if err := from.Recipes(ctx, n, many, func(number int64, r Recipe) { list[number] = r }); err != nil {
		return Recipe{}, err
	}
	r, ok := list[n]
	if !ok {
		return r, errNoRecipe
	}
	if inOrder {
		s.keepAhead(list)
	}
	return r, nil
}

// readAhead returns a recipe that was read ahead, and reports whether recipes are
// asked for in their order.
func (s *Recipes) readAhead(n int64) (row Recipe, found, inOrder bool) {
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

func (s *Recipes) keepAhead(rows map[int64]Recipe) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = rows
}

func (s *Recipes) find(n int64) (*List, bool) {
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cache.Find(n)
}

func (s *Recipes) keep(n int64, ids *List) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.cache.Find(n); !ok { // another one may have read it meanwhile
		s.cache.Keep(n, ids)
	}
}

// RecipeCache keeps the recipes read last: the bodies of a conversation share
// their bases. The base of one that is kept is noted already.
type RecipeCache struct {
	byN   map[int64]*List
	queue []int64 // oldest first
	size  int
}

const cachedIDs = 1 << 20

// Find returns the segments that a recipe lists, if it is kept.
func (c *RecipeCache) Find(n int64) (*List, bool) {
	ids, ok := c.byN[n]
	return ids, ok
}

// Keep keeps a recipe that is not kept yet.
func (c *RecipeCache) Keep(n int64, ids *List) {
	if c.byN == nil {
		c.byN = map[int64]*List{}
	}
	c.byN[n] = ids
	c.queue = append(c.queue, n)
	c.size += ids.own + 1
	for c.size > cachedIDs && len(c.queue) > 1 {
		c.size -= c.byN[c.queue[0]].own + 1
		delete(c.byN, c.queue[0])
		c.queue = c.queue[1:]
	}
}
