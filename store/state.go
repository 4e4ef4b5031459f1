package store

import (
	"context"
	"fmt"
)

// state is the row of the same name: the numbers given out so far.
type state struct {
	salt                      []byte
	removals                  int64
	exchange, run, take, body int64
	part, whole               int64
	lookups                   lookupCounts
	changed                   bool
	overridden                bool // a user has said of some exchange where it belongs
}

// next returns out the number after the last.
func (s *state) next(last *int64) int64 {
	*last++
	s.changed = true
	return *last
}

// readState reads the row, and refuses a schema that has become newer since
// the file was opened.
func readState(st *statements, newest int) (state, error) {
	var s state
	var version int
	err := st.row(context.Background(), `SELECT salt, removals, exchange, run, take, body, part, whole, new_lookups, lookups, EXISTS (SELECT 1 FROM override), v.user_version
		FROM state, pragma_user_version v`, nil,
		&s.salt, &s.removals, &s.exchange, &s.run, &s.take, &s.body, &s.part, &s.whole, &s.lookups[0], &s.lookups[1], &s.overridden, &version)
	if err != nil {
		return s, fmt.Errorf("read state: %w", err)
	}
	if version > newest {
		return s, ErrNewerSchema
	}
	return s, nil
}

func (s *state) write(st *statements) error {
	err := st.run("UPDATE state SET exchange = ?, run = ?, take = ?, body = ?, part = ?, whole = ?, new_lookups = ?, lookups = ?",
		s.exchange, s.run, s.take, s.body, s.part, s.whole, s.lookups[0], s.lookups[1])
	if err != nil {
		return fmt.Errorf("store state: %w", err)
	}
	return nil
}
