package store

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// column is a column of table exchange: how it is written and how it is read.
type column struct {
	name string
	// put returns the value to write.
	put func(r *exchangeRow) any
	// dest returns where to read the value into.
	dest func(s *scanner) any
}

// exchangeRow is an exchange to write, with what the writer looked up for it.
type exchangeRow struct {
	*transcript.Exchange
	model             int64
	request, response any // headers
	err               error
}

// json returns v as JSON, NULL if it is nothing.
func (r *exchangeRow) json(v any, nothing bool) any {
	if nothing {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil && r.err == nil {
		r.err = err
	}
	return string(b)
}

// The columns of table exchange. recordedColumns never change, derivedColumns are
// what PutDerived writes anew, and only pages of one exchange read chunks.
var (
	recordedColumns = []column{
		number("n", func(e *transcript.Exchange) *int64 { return &e.N }),
		identifier("id", func(e *transcript.Exchange) *string { return &e.ID }),
		moment("started", func(e *transcript.Exchange) *timeColumn { return (*timeColumn)(&e.StartedAt) }),
		moment("ended", func(e *transcript.Exchange) *timeColumn { return (*timeColumn)(&e.EndedAt) }),
		text("upstream", func(e *transcript.Exchange) *string { return &e.Upstream }),
		text("method", func(e *transcript.Exchange) *string { return &e.Method }),
		text("url", func(e *transcript.Exchange) *string { return &e.URL }),
		integer("status", func(e *transcript.Exchange) *int { return &e.Status }),
		flag("lossy", func(e *transcript.Exchange) *bool { return &e.Lossy }),
		{"request_headers", func(r *exchangeRow) any { return r.request }, func(s *scanner) any { return &s.request }},
		number("request_bytes", func(e *transcript.Exchange) *int64 { return &e.Request.Bytes }),
		hash("request_sha256", func(e *transcript.Exchange) *string { return &e.Request.SHA256 }),
		text("request_encoding", func(e *transcript.Exchange) *string { return &e.Request.ContentEncoding }),
		number("request_body", func(e *transcript.Exchange) *int64 { return (*int64)(&e.Request.Body) }),
		text("request_omitted", func(e *transcript.Exchange) *string { return &e.Request.Omitted }),
		{"response_headers", func(r *exchangeRow) any { return r.response }, func(s *scanner) any { return &s.response }},
		number("response_bytes", func(e *transcript.Exchange) *int64 { return &e.Response.Bytes }),
		hash("response_sha256", func(e *transcript.Exchange) *string { return &e.Response.SHA256 }),
		text("response_encoding", func(e *transcript.Exchange) *string { return &e.Response.ContentEncoding }),
		number("response_body", func(e *transcript.Exchange) *int64 { return (*int64)(&e.Response.Body) }),
		text("response_omitted", func(e *transcript.Exchange) *string { return &e.Response.Omitted }),
		number("first_byte", func(e *transcript.Exchange) *int64 { return (*int64)(&e.Timing.FirstByte) }),
		number("duration", func(e *transcript.Exchange) *int64 { return (*int64)(&e.Timing.Duration) }),
		text("imported", func(e *transcript.Exchange) *string { return (*string)(&e.Imported) }),
		flag("labelled", func(e *transcript.Exchange) *bool { return &e.Link.Labelled }),
	}
	derivedColumns = []column{
		{"model", func(r *exchangeRow) any { return r.model }, func(s *scanner) any { return &s.model }},
		text("outcome", func(e *transcript.Exchange) *string { return (*string)(&e.Outcome) }),
		errorText("error_type", 0, func(e *transcript.Error) string { return e.Type }),
		errorText("error_code", 1, func(e *transcript.Error) string { return e.Code }),
		errorText("error_message", 2, func(e *transcript.Error) string { return e.Message }),
		{"seen", func(r *exchangeRow) any { return r.json(r.TransportEnding, r.TransportEnding == nil) },
			func(s *scanner) any { return jsonColumn[*transcript.Ending]{&s.row.TransportEnding} }},
		text("request_problem", func(e *transcript.Exchange) *string { return &e.Request.DecodeError }),
		text("response_problem", func(e *transcript.Exchange) *string { return &e.Response.DecodeError }),
		number("first_token", func(e *transcript.Exchange) *int64 { return (*int64)(&e.Timing.FirstToken) }),
		integer("events", func(e *transcript.Exchange) *int { return &e.Timing.Events }),
		flag("stream", func(e *transcript.Exchange) *bool { return &e.Stream }),
		flag("complete", func(e *transcript.Exchange) *bool { return &e.Complete }),
		{"response_id", func(r *exchangeRow) any { return packText(r.ResponseID) },
			func(s *scanner) any { return (*textColumn)(&s.row.ResponseID) }},
		text("finish_reason", func(e *transcript.Exchange) *string { return &e.FinishReason }),
		tokens("input_total", 0, func(u *transcript.Usage) *int64 { return &u.InputTotal }),
		tokens("input_uncached", 1, func(u *transcript.Usage) *int64 { return &u.InputUncached }),
		tokens("cache_read", 2, func(u *transcript.Usage) *int64 { return &u.CacheRead }),
		tokens("cache_write", 3, func(u *transcript.Usage) *int64 { return &u.CacheWrite }),
		{"cache_write_1h", func(r *exchangeRow) any {
			if r.Usage == nil || r.Usage.CacheWrite1h == nil {
				return nil
			}
			return *r.Usage.CacheWrite1h
		}, func(s *scanner) any { return &s.cacheHour }},
		tokens("output", 4, func(u *transcript.Usage) *int64 { return &u.Output }),
		tokens("reasoning", 5, func(u *transcript.Usage) *int64 { return &u.Reasoning }),
		tokens("total", 6, func(u *transcript.Usage) *int64 { return &u.Total }),
		{"usage_complete", func(r *exchangeRow) any {
			if r.Usage == nil {
				return nil
			}
			return r.Usage.Complete
		}, func(s *scanner) any { return &s.usageComplete }},
		text("preview", func(e *transcript.Exchange) *string { return &e.Preview }),
		integer("calls", func(e *transcript.Exchange) *int { return &e.Calls }),
		integer("results", func(e *transcript.Exchange) *int { return &e.Results }),
		integer("tools", func(e *transcript.Exchange) *int { return &e.Tools }),
		{"warnings", func(r *exchangeRow) any { return r.json(r.Warnings, len(r.Warnings) == 0) },
			func(s *scanner) any { return jsonColumn[[]string]{&s.row.Warnings} }},
		identifier("run", func(e *transcript.Exchange) *string { return &e.Link.Run }),
		identifier("parent", func(e *transcript.Exchange) *string { return &e.Link.Parent }),
		identifier("agent", func(e *transcript.Exchange) *string { return &e.Link.Agent }),
		integer("step", func(e *transcript.Exchange) *int { return &e.Link.Step }),
		integer("attempt", func(e *transcript.Exchange) *int { return &e.Link.Attempt }),
		flag("side", func(e *transcript.Exchange) *bool { return &e.Link.Side }),
		text("link_by", func(e *transcript.Exchange) *string { return &e.Link.By }),
		text("evidence", func(e *transcript.Exchange) *string { return &e.Link.Evidence }),
		integer("shared", func(e *transcript.Exchange) *int { return &e.Link.Shared }),
		integer("in_len", func(e *transcript.Exchange) *int { return &e.Link.InLen }),
		integer("out_len", func(e *transcript.Exchange) *int { return &e.Link.OutLen }),
		node("in_node", func(e *transcript.Exchange) *transcript.Node { return &e.Link.InNode }),
		node("out_node", func(e *transcript.Exchange) *transcript.Node { return &e.Link.OutNode }),
		node("node_without_ids", func(e *transcript.Exchange) *transcript.Node { return &e.Link.NodeWithoutIDs }),
		{"settings", func(r *exchangeRow) any { return packSettings(&r.Link.Settings) },
			func(s *scanner) any { return (*settingsColumn)(&s.row.Link.Settings) }},
		{"change", func(r *exchangeRow) any { return r.json(&r.Link.Change, r.Link.Change == transcript.Change{}) },
			func(s *scanner) any { return jsonColumn[transcript.Change]{&s.row.Link.Change} }},
		number("as_of", func(e *transcript.Exchange) *int64 { return &e.Link.AsOf }),
	}
	chunks = column{"chunks", func(r *exchangeRow) any { return packChunks(r.Response.Chunks) },
		func(s *scanner) any { return (*chunksColumn)(&s.row.Response.Chunks) }}

	exchangeColumns = append(slices.Concat(recordedColumns, derivedColumns), chunks)
)

func text(name string, at func(*transcript.Exchange) *string) column {
	return column{name, func(r *exchangeRow) any { return *at(r.Exchange) }, func(s *scanner) any { return at(&s.row) }}
}

func number(name string, at func(*transcript.Exchange) *int64) column {
	return column{name, func(r *exchangeRow) any { return *at(r.Exchange) }, func(s *scanner) any { return at(&s.row) }}
}

func integer(name string, at func(*transcript.Exchange) *int) column {
	return column{name, func(r *exchangeRow) any { return *at(r.Exchange) }, func(s *scanner) any { return at(&s.row) }}
}

func flag(name string, at func(*transcript.Exchange) *bool) column {
	return column{name, func(r *exchangeRow) any { return *at(r.Exchange) }, func(s *scanner) any { return at(&s.row) }}
}

func identifier(name string, at func(*transcript.Exchange) *string) column {
	return column{name, func(r *exchangeRow) any { return packID(*at(r.Exchange)) }, func(s *scanner) any { return (*idColumn)(at(&s.row)) }}
}

func hash(name string, at func(*transcript.Exchange) *string) column {
	return column{name, func(r *exchangeRow) any { return packHash(*at(r.Exchange)) }, func(s *scanner) any { return (*hashColumn)(at(&s.row)) }}
}

func moment(name string, at func(*transcript.Exchange) *timeColumn) column {
	return column{name, func(r *exchangeRow) any { return at(r.Exchange).pack() }, func(s *scanner) any { return at(&s.row) }}
}

func node(name string, at func(*transcript.Exchange) *transcript.Node) column {
	return column{name, func(r *exchangeRow) any { return packNode(at(r.Exchange)) }, func(s *scanner) any { return (*nodeColumn)(at(&s.row)) }}
}

// errorText is a part of Exchange.Error: NULL if there is no error.
func errorText(name string, i int, of func(*transcript.Error) string) column {
	return column{name, func(r *exchangeRow) any {
		if r.Error == nil {
			return nil
		}
		return of(r.Error)
	}, func(s *scanner) any { return &s.failure[i] }}
}

// tokens is a part of Exchange.Usage: NULL if no usage was reported.
func tokens(name string, i int, of func(*transcript.Usage) *int64) column {
	return column{name, func(r *exchangeRow) any {
		if r.Usage == nil {
			return nil
		}
		return *of(r.Usage)
	}, func(s *scanner) any { return &s.usage[i] }}
}

// names lists the names of columns.
func names(columns []column) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.name
	}
	return list
}

// pack returns the values of columns.
func (r *exchangeRow) pack(columns []column) ([]any, error) {
	values := make([]any, 0, len(columns)+1)
	for _, c := range columns {
		values = append(values, c.put(r))
	}
	return values, r.err
}

var (
	insertExchange = "INSERT INTO exchange (" + strings.Join(names(exchangeColumns), ", ") + ") VALUES (?" +
		strings.Repeat(", ?", len(exchangeColumns)-1) + ")"
	updateDerived  = "UPDATE exchange SET " + strings.Join(names(derivedColumns), " = ?, ") + " = ? WHERE n = ?"
	selectExchange = selectColumns(chunks.name)
	selectListed   = selectColumns("NULL")
)

// selectColumns reads exchanges e together with their model row. A join would be
// several times slower: SQLite then reads each column of a row by itself.
func selectColumns(chunks string) string {
	const ofModel = "SELECT (SELECT dialect FROM model WHERE id = e.model), (SELECT asked FROM model WHERE id = e.model), (SELECT answered FROM model WHERE id = e.model), e."
	return ofModel + strings.Join(names(slices.Concat(recordedColumns, derivedColumns)), ", e.") + ", " + chunks + " FROM exchange e "
}
