package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// Problem is one thing that Verify found.
type Problem struct {
	Exchange string `json:"exchange"` // id; "" where the database itself is meant
	N        int64  `json:"n"`        // number of the exchange; 0 where the database itself is meant
	Part     string `json:"part"`     // "exchange", "request", "response", "lookup" (not found by what leads to it) or "database"
	Text     string `json:"text"`     // what is wrong, in words
}

// maxProblems bounds what SQLite's own check reports.
const maxProblems = 100

// verifyPage is how many exchanges are checked between two calls of progress.
const verifyPage = 100

// Verify rebuilds the bodies of every exchange and holds them against their
// length and SHA-256, looks whether exchanges, calls and pieces of bodies are
// found by what leads to them, then lets SQLite check the file. It goes on after a
// problem; an error means that it could not go on. progress may be nil; it is
// told how many exchanges are done. What is stored meanwhile is not checked.
func (db *DB) Verify(ctx context.Context, progress func(done, total int)) ([]Problem, error) {
	v := &verification{db: db, ctx: ctx, progress: progress}
	var err error
	if v.gaps, err = db.gaps(ctx); err != nil {
		v.withoutGaps(err)
	}
	if err := v.exchanges(); err != nil {
		return v.problems, fmt.Errorf("verify exchanges: %w", err)
	}
	v.segmentLookups()
	if err := v.file(); isCorrupt(err) {
		v.report(Problem{Part: "database", Text: err.Error()})
	} else if err != nil {
		return v.problems, fmt.Errorf("verify database: %w", err)
	}
	return v.problems, nil
}

type verification struct {
	db          *DB
	ctx         context.Context
	progress    func(done, total int)
	problems    []Problem
	gaps        *gaps // nil once lookups cannot be read
	done, total int
}

func (v *verification) report(p Problem) { v.problems = append(v.problems, p) }

func (v *verification) exchanges() error {
	var last int64
	if err := v.db.st.row(v.ctx, "SELECT exchange FROM state", nil, &last); err != nil {
		return err
	}
	if err := v.db.st.row(v.ctx, "SELECT count(*) FROM exchange", nil, &v.total); isCorrupt(err) {
		v.total = int(last)
	} else if err != nil {
		return err
	}
	for n := int64(1); n <= last; n += verifyPage {
		if err := v.page(n, min(n+verifyPage-1, last)); err != nil {
			return err
		}
		if v.progress != nil {
			v.progress(v.done, v.total)
		}
	}
	return nil
}

// page checks the exchanges first to last, one by one where they cannot be read
// together.
func (v *verification) page(first, last int64) error {
	const query = "SELECT n FROM exchange WHERE n BETWEEN ? AND ? ORDER BY n"
	var numbers []int64
	err := v.db.st.rows(v.ctx, query, []any{first, last}, func(row *sql.Rows) error {
		var n int64
		err := row.Scan(&n)
		numbers = append(numbers, n)
		return err
	})
	if err != nil {
		numbers = numbers[:0]
		for n := first; n <= last; n++ {
			numbers = append(numbers, n)
		}
	}
	for _, n := range numbers {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		v.exchange(n)
	}
	return nil
}

func (v *verification) exchange(n int64) {
	e, err := v.db.ExchangeN(v.ctx, n)
	if errors.Is(err, transcript.ErrNotFound) {
		return
	}
	if err != nil {
		if v.ctx.Err() == nil {
			v.report(Problem{N: n, Part: "exchange", Text: err.Error()})
		}
		return
	}
	v.done++
	v.message(e, "request", &e.Request)
	v.message(e, "response", &e.Response)
	v.lookups(e)
}

func (v *verification) message(e *transcript.Exchange, part string, m *transcript.Message) {
	if text := v.body(m); text != "" && v.ctx.Err() == nil {
		v.report(Problem{Exchange: e.ID, N: e.N, Part: part, Text: text})
	}
}

// body reports what is wrong with a body, or "".
func (v *verification) body(m *transcript.Message) string {
	body, err := v.db.Body(v.ctx, m.Body)
	if err != nil {
		return err.Error()
	}
	defer body.Close()
	if m.Omitted == "bodies" {
		return ""
	}
	hash := sha256.New()
	size, err := io.Copy(hash, body)
	if err != nil {
		return fmt.Sprintf("broken off after %d of %d bytes: %v", size, m.Bytes, err)
	}
	if strings.Contains(m.Omitted, "secrets") { // what stands for them has other lengths
		return ""
	}
	if size != m.Bytes {
		return fmt.Sprintf("%d bytes instead of %d", size, m.Bytes)
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); m.SHA256 != "" && m.Omitted == "" && sum != m.SHA256 {
		return fmt.Sprintf("SHA-256 %s instead of %s", sum, m.SHA256)
	}
	return ""
}

// file lets SQLite check its pages and indexes.
func (v *verification) file() error {
	return withConn(v.ctx, v.db.path, v.db.connect, func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(v.ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", maxProblems))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			if text != "ok" {
				v.report(Problem{Part: "database", Text: text})
			}
		}
		return rows.Err()
	})
}
