package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"

	"github.com/retake-debugger/retake/store/segment"
	"github.com/retake-debugger/retake/transcript"
)

// Traffic is bytes as they went over the wire and what they take up here. What
// was sent again is stored once, and counted for who sent it first.
type Traffic struct {
	Raw    int64 `json:"raw"`
	Stored int64 `json:"stored"`
}

// Storage is what a database is made of, in bytes.
type Storage struct {
	Exchanges  int64   `json:"exchanges"`
	Requests   Traffic `json:"requests"`
	Responses  Traffic `json:"responses"`
	Compressed Traffic `json:"compressed"` // of these, bodies that came compressed
	Large      Traffic `json:"large"`      // of these, pieces stored alone: images, files
	Unheld     int64   `json:"unheld"`     // of bodies that no exchange has, in packs with others
	Recipes    int64   `json:"recipes"`
	HeaderSets int64   `json:"header_sets"`
	Search     int64   `json:"search_index"`
	Rows       int64   `json:"rows"` // all else: rows, indexes, what pages do not use
	Free       int64   `json:"free"` // pages that wait to be used again
	Database   int64   `json:"database"`
	Log        int64   `json:"log"` // the write-ahead log beside it
}

// Storage measures what the database is made of. It reads all recipes.
func (db *DB) Storage(ctx context.Context) (*Storage, error) {
	m := &measuring{ctx: ctx, db: db, sizes: &sizes{ctx: ctx, st: db.st}}
	if err := m.bodies(); err != nil {
		return nil, fmt.Errorf("measure bodies: %w", err)
	}
	if err := m.database(); err != nil {
		return nil, fmt.Errorf("measure database: %w", err)
	}
	return &m.s, nil
}

type measuring struct {
	ctx       context.Context
	db        *DB
	sizes     *sizes
	reachable reachable
	s         Storage
}

// bodyRow is a body of an exchange.
type bodyRow struct {
	id       transcript.BodyID
	bytes    int64
	encoding string
}

func (m *measuring) bodies() error {
	h := &m.reachable
	for after, more := int64(0), true; more; {
		var page [][2]bodyRow
		err := m.db.st.rows(m.ctx, `SELECT n, request_body, request_bytes, request_encoding, response_body, response_bytes, response_encoding
			FROM exchange WHERE n > ? ORDER BY n LIMIT ?`, []any{after, holderPage}, func(row *sql.Rows) error {
			var b [2]bodyRow
			err := row.Scan(&after, &b[0].id, &b[0].bytes, &b[0].encoding, &b[1].id, &b[1].bytes, &b[1].encoding)
			page = append(page, b)
			return err
		})
		if err == nil {
			err = h.bound(m.ctx, &m.db.reader)
		}
		if err != nil {
			return err
		}
		more = len(page) > 0
		for _, b := range page {
			m.s.Exchanges++
			for i, side := range []*Traffic{&m.s.Requests, &m.s.Responses} {
				if err := m.body(h, &b[i], side); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// body counts what a body adds to what is held already.
func (m *measuring) body(h *reachable, b *bodyRow, side *Traffic) error {
	before := side.Stored
	h.Took = func(id segment.ID) error {
		stored, raw, err := m.sizes.of(id)
		side.Stored += stored
		if raw >= segment.LargeSegment {
			m.s.Large.Stored += stored
			m.s.Large.Raw += raw
		}
		return err
	}
	if err := h.Body(m.ctx, m.db.bodies, b.id); err != nil {
		return err
	}
	side.Raw += b.bytes
	if b.encoding != "" && b.encoding != "identity" {
		m.s.Compressed.Raw += b.bytes
		m.s.Compressed.Stored += side.Stored - before
	}
	return nil
}

func (m *measuring) database() error {
	var used int64
	err := m.db.st.row(m.ctx, `SELECT
		(SELECT coalesce(sum(length(recipe)), 0) FROM body),
		(SELECT coalesce(sum(length(data)), 0) FROM header_set),
		(c.page_count - f.freelist_count) * s.page_size, f.freelist_count * s.page_size, c.page_count * s.page_size
		FROM pragma_page_count c, pragma_freelist_count f, pragma_page_size s`, nil,
		&m.s.Recipes, &m.s.HeaderSets, &used, &m.s.Free, &m.s.Database)
	if err != nil {
		return err
	}
	if m.s.Search, err = m.search(); err != nil {
		return err
	}
	if m.s.Unheld, err = m.unheld(); err != nil {
		return err
	}
	m.s.Rows = used - m.s.Requests.Stored - m.s.Responses.Stored - m.s.Unheld - m.s.Recipes - m.s.HeaderSets - m.s.Search
	if info, err := os.Stat(m.db.path + "-wal"); err == nil {
		m.s.Log = info.Size()
	}
	return nil
}

// unheld adds up what is in packs and no exchange has.
func (m *measuring) unheld() (int64, error) {
	total := int64(0)
	for stream := range packTables {
		err := segment.EachPack(m.ctx, segmentRows{m.db.st}, stream, func(p *segment.PackInfo) error {
			dead, err := m.reachable.Dead(p, stream)
			total += p.Share(dead)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return total, nil
}

// search adds up the tables of the search index, if there are any.
func (m *measuring) search() (int64, error) {
	columns := map[string][]string{}
	const query = `SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name LIKE 'search%' AND t.sql NOT LIKE 'CREATE VIRTUAL%'`
	err := m.db.st.rows(m.ctx, query, nil, func(row *sql.Rows) error {
		var table, column string
		err := row.Scan(&table, &column)
		columns[table] = append(columns[table], `coalesce(length(CAST("`+column+`" AS BLOB)), 0)`)
		return err
	})
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for table, list := range columns {
		var bytes int64
		if err := m.db.st.row(m.ctx, `SELECT coalesce(sum(`+strings.Join(list, " + ")+`), 0) FROM "`+table+`"`, nil, &bytes); err != nil {
			return 0, err
		}
		total += bytes
	}
	return total, nil
}
