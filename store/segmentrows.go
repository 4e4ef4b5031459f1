package store

import (
	"context"
	"database/sql"
	"github.com/retake-debugger/retake/store/segment"
)

// packTables are the tables of the packs of each stream.
var packTables = [2]string{"part_pack", "whole_pack"}

// segmentRows are the rows of packs and recipes in SQLite.
type segmentRows struct{ st *statements }

var _ segment.RowWriter = segmentRows{}

// Pack calls f for the pack that a segment is looked for in.
func (r segmentRows) Pack(ctx context.Context, stream int, number int64, f func(segment.Row) error) error {
	query := "SELECT first, count, bytes, lengths, data FROM " + packTables[stream] + " WHERE first <= ? ORDER BY first DESC LIMIT 1"
	return r.st.rows(ctx, query, []any{number}, func(row *sql.Rows) error {
		var p segment.Row
		var lengths, data sql.RawBytes // spares a copy
		if err := row.Scan(&p.First, &p.Count, &p.Bytes, &lengths, &data); err != nil {
			return err
		}
		p.Lengths, p.Data = lengths, data
		return f(p)
	})
}

// PackSizes lists packs without their data.
func (r segmentRows) PackSizes(ctx context.Context, stream int, after int64, limit int) ([]*segment.PackInfo, error) {
	query := "SELECT first, count, bytes, lengths, length(data) + length(lengths) FROM " + packTables[stream] + " WHERE first > ? ORDER BY first LIMIT ?"
	var list []*segment.PackInfo
	err := r.st.rows(ctx, query, []any{after, limit}, func(row *sql.Rows) error {
		p := &segment.PackInfo{}
		err := row.Scan(&p.First, &p.Count, &p.Bytes, &p.Lengths, &p.Stored)
		list = append(list, p)
		return err
	})
	return list, err
}

// LastPacks calls f for the last packs of a stream.
func (r segmentRows) LastPacks(ctx context.Context, stream int, limit int, f func(first, count, bytes int64) bool) error {
	query := "SELECT first, count, bytes FROM " + packTables[stream] + " ORDER BY first DESC LIMIT ?"
	err := r.st.rows(ctx, query, []any{limit}, func(row *sql.Rows) error {
		var first, count, bytes int64
		if err := row.Scan(&first, &count, &bytes); err != nil {
			return err
		}
		if !f(first, count, bytes) {
			return errEnough
		}
		return nil
	})
	if err == errEnough {
		return nil
	}
	return err
}

// Recipes calls f for recipes in the order of their numbers.
func (r segmentRows) Recipes(ctx context.Context, n int64, limit int, f func(n int64, recipe segment.Recipe)) error {
	return r.st.rows(ctx, "SELECT n, base, step, recipe FROM body WHERE n >= ? ORDER BY n LIMIT ?", []any{n, limit}, func(row *sql.Rows) error {
		var number int64
		var s segment.Recipe
		if err := row.Scan(&number, &s.Base, &s.Step, &s.Recipe); err != nil {
			return err
		}
		f(number, s)
		return nil
	})
}

// PutPack stores a pack.
func (r segmentRows) PutPack(stream int, p segment.Row) error {
	query := "INSERT INTO " + packTables[stream] + " (first, count, bytes, lengths, data) VALUES (?, ?, ?, ?, ?)"
	return r.st.run(query, p.First, p.Count, p.Bytes, p.Lengths, p.Data)
}

// DeletePacks deletes packs.
func (r segmentRows) DeletePacks(stream int, first, last int64) error {
	_, err := r.st.exec("DELETE FROM "+packTables[stream]+" WHERE first BETWEEN ? AND ?", first, last)
	return err
}

// PutRecipe stores a recipe.
func (r segmentRows) PutRecipe(n, size int64, s segment.Recipe) error {
	return r.st.run("INSERT INTO body (n, bytes, base, step, recipe) VALUES (?, ?, ?, ?, ?)", n, size, s.Base, s.Step, s.Recipe)
}
