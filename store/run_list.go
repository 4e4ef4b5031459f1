package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// Runs lists the runs that have exchanges, newest first. What their exchanges
// come to is added up by a few queries about all of them together.
func (r *reader) Runs(ctx context.Context, f transcript.RunFilter) ([]transcript.RunSum, error) {
	list, lost := r.listRuns(ctx, f)
	if (errors.Is(lost, transcript.ErrDamaged) || lost == nil && r.cut) && f.IDs == nil {
		list, lost = r.readableRuns(ctx, &f, lost)
	}
	if lost != nil && !errors.Is(lost, transcript.ErrDamaged) || len(list) == 0 {
		return list, lost
	}
	if err := r.addUpReadable(ctx, list, f.Timeline); err != nil {
		return nil, err
	}
	return list, lost
}

// addUpReadable adds up runs, and says of those of which that cannot be done that
// they are damaged.
func (r *reader) addUpReadable(ctx context.Context, list []transcript.RunSum, timeline bool) error {
	damaged := func(s *transcript.RunSum) { *s = transcript.RunSum{Run: s.Run, Marks: s.Marks, Damaged: true} }
	err := r.addUp(ctx, list, timeline)
	if errors.Is(err, transcript.ErrDamaged) {
		for i := range list {
			if err := r.addUp(ctx, list[i:i+1], timeline); errors.Is(err, transcript.ErrDamaged) {
				damaged(&list[i])
			} else if err != nil {
				return err
			}
		}
		err = nil
	}
	for i := range list {
		if r.cut && list[i].Exchanges == 0 {
			damaged(&list[i])
		}
	}
	return err
}

// addUp adds up the exchanges of runs.
func (r *reader) addUp(ctx context.Context, list []transcript.RunSum, timeline bool) error {
	s := runSums{ctx: ctx, st: r.st, byID: make(map[string]*transcript.RunSum, len(list))}
	numbers := make([]int64, len(list))
	for i := range list {
		s.byID[list[i].ID], numbers[i] = &list[i], list[i].N
		list[i].Models = nil
	}
	text, err := json.Marshal(numbers)
	if err != nil {
		return err
	}
	s.numbers = string(text)
	adding := []func() error{s.counts, s.calls, s.models, s.topics, s.last}
	if timeline {
		adding = append(adding, s.timelines)
	}
	for _, add := range adding {
		if err := add(); err != nil {
			return fmt.Errorf("add up runs: %w", damaged(err))
		}
	}
	return nil
}

func (r *reader) listRuns(ctx context.Context, f transcript.RunFilter) ([]transcript.RunSum, error) {
	q := newRunQuery(&f)
	q.add("EXISTS (SELECT 1 FROM exchange WHERE run = r.id)")
	for _, c := range exchangesOf(&f) {
		sql, err := r.ofRun(ctx, &c, f.Limit <= 0 || f.IDs != nil)
		if err != nil {
			return nil, fmt.Errorf("list runs: %w", damaged(err))
		}
		q.add(sql, c.args...)
	}
	if f.IDs != nil {
		ids := make([]any, len(f.IDs))
		for i, id := range f.IDs {
			ids[i] = packID(id)
		}
		q.add("r.id IN (?"+strings.Repeat(", ?", max(len(f.IDs)-1, 0))+")", ids...)
		if len(f.IDs) == 0 {
			return nil, nil
		}
	}
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	list, err := q.list(ctx, r.st, limit)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", damaged(err))
	}
	return list, nil
}

// runQuery asks for runs r with their marks m.
type runQuery struct {
	where []string
	args  []any
}

func (q *runQuery) add(condition string, values ...any) {
	q.where = append(q.where, condition)
	q.args = append(q.args, values...)
}

// newRunQuery asks for what a filter says of runs themselves.
func newRunQuery(f *transcript.RunFilter) runQuery {
	var q runQuery
	if f.Before > 0 {
		q.add("r.n < ?", f.Before)
	}
	if f.Tag != "" {
		q.add("EXISTS (SELECT 1 FROM json_each(m.tags) WHERE value = ?)", f.Tag)
	}
	if f.Pinned {
		q.add("m.pinned")
	}
	return q
}

// list returns what fits, newest first; more are the values of what is not in args.
func (q *runQuery) list(ctx context.Context, st *statements, more ...any) (list []transcript.RunSum, err error) {
	query := `SELECT r.n, r.id, r.name, r.started, m.name, m.note, m.tags, m.pinned FROM run r LEFT JOIN mark m ON m.run = r.id
		WHERE ` + strings.Join(q.where, " AND ") + " ORDER BY r.n DESC LIMIT ?"
	err = st.rows(ctx, query, append(slices.Clone(q.args), more...), func(row *sql.Rows) error {
		var s transcript.RunSum
		err := scanRun(row, &s)
		list = append(list, s)
		return err
	})
	return list, err
}

func scanRun(row *sql.Rows, s *transcript.RunSum, more ...any) error {
	var id any
	var started *int64
	var name, note, tags *string
	var pinned *bool
	if err := row.Scan(append([]any{&s.N, &id, &s.Name, &started, &name, &note, &tags, &pinned}, more...)...); err != nil {
		return err
	}
	s.ID, s.StartedAt = unpackID(id), unpackTime(started)
	if name == nil {
		return nil
	}
	s.Marks.Name, s.Marks.Note, s.Marks.Pinned = *name, *note, *pinned
	return json.Unmarshal([]byte(*tags), &s.Marks.Tags)
}

// runSums adds up the exchanges of some runs.
type runSums struct {
	ctx     context.Context
	st      *statements
	numbers string // of the runs, as a JSON array
	byID    map[string]*transcript.RunSum
}

const (
	ofRuns = "e.run IN (SELECT r.id FROM json_each(?) j JOIN run r ON r.n = j.value)"
	noTake = "NOT EXISTS (SELECT 1 FROM take_step t WHERE t.exchange = e.id)"
	path   = "substr(substr(e.url, instr(e.url, '://') + 3), max(1, instr(substr(e.url, instr(e.url, '://') + 3), '/')))"
	isMain = "coalesce((SELECT main FROM agent a WHERE a.id = e.agent), 0)"
)

// each runs a query that returns one row for a run, its id first.
func (s *runSums) each(query string, dest func() []any, take func(*transcript.RunSum)) error {
	return s.st.rows(s.ctx, query, []any{s.numbers}, func(row *sql.Rows) error {
		var id any
		if err := row.Scan(append([]any{&id}, dest()...)...); err != nil {
			return err
		}
		if sum := s.byID[unpackID(id)]; sum != nil {
			take(sum)
		}
		return nil
	})
}

func (s *runSums) counts() error {
	var row struct {
		exchanges, side, takes, agents, steps, failed, calls int
		started, ended                                       *int64
		usage                                                [7]*int64
		complete                                             bool
		imported                                             transcript.Grade
	}
	u := &row.usage
	return s.each(`SELECT run, count(*), sum(side), sum(NOT own), count(DISTINCT agent), sum(own AND agent IS NOT NULL AND attempt <= 1),
		max(0, sum(own AND NOT side AND outcome NOT IN ('ok', 'in_progress')) - sum(own AND attempt > 1)),
		sum(iif(own, calls, 0)), min(started), coalesce(max(iif(own, ended, NULL)), max(ended)),
		sum(iif(own, input_total, NULL)), sum(iif(own, input_uncached, NULL)), sum(iif(own, cache_read, NULL)), sum(iif(own, cache_write, NULL)),
		sum(iif(own, output, NULL)), sum(iif(own, reasoning, NULL)), sum(iif(own, total, NULL)),
		min(coalesce(usage_complete, side OR outcome <> 'ok' OR NOT own)), max(imported)
		FROM (SELECT e.*, `+noTake+` AS own FROM exchange e WHERE `+ofRuns+`) GROUP BY run`,
		func() []any {
			return []any{&row.exchanges, &row.side, &row.takes, &row.agents, &row.steps, &row.failed, &row.calls, &row.started, &row.ended,
				&u[0], &u[1], &u[2], &u[3], &u[4], &u[5], &u[6], &row.complete, &row.imported}
		},
		func(sum *transcript.RunSum) {
			sum.Exchanges, sum.Side, sum.Takes, sum.Agents, sum.Steps = row.exchanges, row.side, row.takes, row.agents, row.steps
			sum.Failed, sum.Calls, sum.EndedAt, sum.Imported = row.failed, row.calls, unpackTime(row.ended), row.imported // grades sort by worth
			if row.started != nil {
				sum.StartedAt = unpackTime(row.started) // a run may be made after its first exchange came
			}
			if u[0] != nil && u[4] != nil {
				sum.Usage = &transcript.Usage{InputTotal: *u[0], InputUncached: *u[1], CacheRead: *u[2], CacheWrite: *u[3],
					Output: *u[4], Reasoning: *u[5], Total: *u[6], Complete: row.complete}
			}
		})
}

// triedAgain reports whether a further attempt came after an exchange e.
const triedAgain = `(e.agent IS NOT NULL AND EXISTS (SELECT 1 FROM exchange l WHERE l.parent = e.parent AND l.agent = e.agent AND l.step = e.step AND l.attempt > e.attempt AND l.n > e.n
			AND NOT EXISTS (SELECT 1 FROM take_step t WHERE t.exchange = l.id))
		OR e.agent IS NOT NULL AND e.parent IS NULL AND EXISTS (SELECT 1 FROM exchange l WHERE l.run = e.run AND l.parent IS NULL AND l.agent = e.agent AND l.step = e.step AND l.attempt > e.attempt AND l.n > e.n
			AND NOT EXISTS (SELECT 1 FROM take_step t WHERE t.exchange = l.id)))`

// calls counts what came of calls, and subtracts those that were never run: of answers
// that were asked for again, without a result.
func (s *runSums) calls() error {
	var results, errors, dropped int
	return s.each(`SELECT e.run, sum(EXISTS (SELECT 1 FROM pair r WHERE r.n = c.n AND r.kind = 1 AND r.call = c.call)), sum(EXISTS (SELECT 1 FROM pair r WHERE r.n = c.n AND r.kind = 1 AND r.call = c.call AND r.is_error)),
		sum(iif(EXISTS (SELECT 1 FROM pair r WHERE r.n = c.n AND r.kind = 1 AND r.call = c.call), 0, `+triedAgain+`))
		FROM exchange e CROSS JOIN pair c ON c.n = e.n AND c.kind = 0 WHERE `+ofRuns+` AND e.calls > 0 AND `+noTake+` GROUP BY e.run`,
		func() []any { return []any{&results, &errors, &dropped} },
		func(sum *transcript.RunSum) {
			sum.Results, sum.Errors, sum.Calls = results, errors, max(0, sum.Calls-dropped)
		})
}

// models lists the models that answered, and those asked of which none did.
func (s *runSums) models() error {
	type asked struct {
		run   *transcript.RunSum
		model string
	}
	silent := map[asked]bool{}
	var model, answered string
	err := s.each(`SELECT DISTINCT e.run, m.asked, m.answered FROM exchange e CROSS JOIN model m ON m.id = e.model
		WHERE `+ofRuns+` AND NOT e.side AND `+noTake,
		func() []any { return []any{&model, &answered} },
		func(sum *transcript.RunSum) {
			key := asked{sum, model}
			if answered != "" {
				sum.Models, silent[key] = append(sum.Models, answered), false
			} else if _, known := silent[key]; !known && model != "" {
				silent[key] = true
			}
		})
	for key, never := range silent {
		if never {
			key.run.Models = append(key.run.Models, key.model)
		}
	}
	for _, sum := range s.byID {
		slices.Sort(sum.Models)
		sum.Models = slices.Compact(sum.Models)
	}
	return err
}

// topics finds what each run's first step is about, rather of a main agent, of
// a side call if it has no step. SQLite takes the other columns from the row
// with the lowest value (sqlite.org/lang_select.html, bare columns).
func (s *runSums) topics() error {
	var topic string
	var lowest int64
	return s.each(`SELECT e.run, iif(e.preview <> '', e.preview, e.method || ' ' || `+path+`), min((e.side * 2 + 1 - `+isMain+`) << 60 | e.n)
		FROM exchange e WHERE `+ofRuns+` GROUP BY e.run`,
		func() []any { return []any{&topic, &lowest} },
		func(sum *transcript.RunSum) { sum.Topic = topic })
}

func (s *runSums) last() error {
	var last transcript.LastStep
	return s.each(`SELECT e.run, e.outcome, e.calls, e.outcome = 'ok' AND NOT e.complete, max(e.n) FROM exchange e
		WHERE `+ofRuns+` AND `+isMain+` AND `+noTake+` GROUP BY e.run`,
		func() []any { return []any{&last.Outcome, &last.Calls, &last.Partial, &last.N} },
		func(sum *transcript.RunSum) { sum.Last = last })
}
