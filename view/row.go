package view

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// Row is an exchange without its bodies.
type Row struct {
	ID            string             `json:"id"`
	N             int64              `json:"n"`
	StartedAt     *time.Time         `json:"started_at"` // nil if unknown
	Upstream      string             `json:"upstream"`
	Dialect       transcript.Dialect `json:"dialect"`
	Method        string             `json:"method"`
	URL           string             `json:"url"`
	Status        int                `json:"status"`
	Stream        bool               `json:"stream"`
	Model         string             `json:"model"`
	ResponseModel string             `json:"response_model"`
	FinishReason  *string            `json:"finish_reason"`
	Outcome       transcript.Outcome `json:"outcome"`
	Complete      bool               `json:"complete"`
	Partial       bool               `json:"partial"` // ok, but the answer is incomplete
	Lossy         bool               `json:"lossy"`
	Imported      transcript.Grade   `json:"imported"` // "exact", "rebuilt" or "view only"; "" if it was recorded
	Error         *transcript.Error  `json:"error"`
	Timing        Timing             `json:"timing"`
	Usage         *transcript.Usage  `json:"usage"`
	CostUSD       *string            `json:"cost_usd"` // nil if the price is unknown
	Preview       string             `json:"preview"`  // the start of the last user text
	Calls         int                `json:"calls"`    // tool calls in the answer
	Results       int                `json:"results"`  // tool results that are new in the request
	Run           string             `json:"run"`
	Agent         *string            `json:"agent"` // nil for a side call, like the next two
	Step          *int               `json:"step"`
	Attempt       *int               `json:"attempt"`
	Side          bool               `json:"side"`
	TakeOf        string             `json:"take_of"` // id of the exchange that this one replays
	Parent        string             `json:"parent"`
	Link          Link               `json:"link"`
	Warnings      []string           `json:"warnings"`
}

// Timing is in milliseconds; nil where nothing was measured.
type Timing struct {
	TTFBms     *float64     `json:"ttfb_ms"`
	TTFTms     *float64     `json:"ttft_ms"`
	DurationMS *float64     `json:"duration_ms"`
	Events     int          `json:"events"`
	Chunks     [][2]float64 `json:"chunks,omitempty"` // offset in the wire body, ms
}

// Ref is the short reference of an exchange.
func (r *Row) Ref() string { return Ref(r.N) }

// Ref is the short reference of exchange n.
func Ref(n int64) string { return fmt.Sprintf("x%d", n) }

// Failed reports whether the exchange failed in any way.
func (r *Row) Failed() bool { return r.Outcome != transcript.OK && r.Outcome != transcript.InProgress }

// isPartial reports whether an answer is incomplete (its terminal event or the rest
// of its JSON is missing) although the connection ended normally.
func isPartial(e *transcript.Exchange) bool {
	return e.Outcome == transcript.OK && !e.Complete && e.Dialect != transcript.Unknown && e.Status < 400 && e.Model != ""
}

// NewRow shows a stored exchange in a list.
func NewRow(e *transcript.Exchange) Row {
	r := Row{
		ID: e.ID, N: e.N, StartedAt: known(e.StartedAt), Upstream: e.Upstream, Dialect: e.Dialect, Method: e.Method, URL: e.URL,
		Status: e.Status, Stream: e.Stream, Model: e.Model, ResponseModel: e.ResponseModel, Outcome: e.Outcome,
		Complete: e.Complete, Lossy: e.Lossy, Imported: e.Imported, Error: e.Error, Usage: e.Usage, Preview: e.Preview,
		Calls: e.Calls, Results: e.Results, Run: e.Link.Run, Parent: e.Link.Parent,
		Link: newLink(&e.Link), Warnings: e.Warnings,
		Timing: Timing{TTFBms: ms(e.Timing.FirstByte), TTFTms: ms(e.Timing.FirstToken), DurationMS: ms(e.Timing.Duration), Events: e.Timing.Events},
	}
	r.Side, r.Partial = e.Link.Side, isPartial(e)
	if e.Link.Agent != "" {
		r.Agent, r.Step, r.Attempt = &e.Link.Agent, &e.Link.Step, &e.Link.Attempt
	}
	if e.FinishReason != "" {
		r.FinishReason = &e.FinishReason
	}
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
	return r
}

// known returns a time; nil if it is unknown.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func ms(d time.Duration) *float64 {
	if d <= 0 {
		return nil
	}
	v := float64(d.Microseconds()) / 1000
	return &v
}

// between returns the time from one moment to another; nil if one of them is
// unknown.
func between(from, to time.Time) *float64 {
	if d := transcript.Between(from, to); d != nil {
		return ms(*d)
	}
	return nil
}

// Rows lists exchanges. If some are damaged, it returns the others and an error
// that wraps transcript.ErrDamaged.
func Rows(ctx context.Context, r transcript.Reader, f transcript.Filter) ([]Row, error) {
	var damaged unreadable
	takes, err := r.Takes(ctx, "")
	if err != nil && !damaged.take(err) {
		return nil, err
	}
	origins := make(map[string]string, len(takes))
	for _, t := range takes {
		for _, s := range t.Steps {
			origins[s.Exchange] = t.Origin
		}
	}
	rows := []Row{}
	for e, err := range r.Exchanges(ctx, f) {
		if err != nil && damaged.take(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		row := NewRow(e)
		row.TakeOf = origins[e.ID]
		rows = append(rows, row)
	}
	return rows, damaged.err()
}

// Message is one side of an exchange as on the wire.
type Message struct {
	Headers         map[string][]string `json:"headers"`
	Bytes           int64               `json:"bytes"`
	SHA256          string              `json:"sha256"`
	ContentEncoding string              `json:"content_encoding"`
	DecodeError     string              `json:"decode_error"`
	Omitted         string              `json:"omitted"` // "images", "bodies" or "secrets": omitted by configuration
}

func newMessage(m transcript.Message) Message {
	if m.Headers == nil {
		m.Headers = map[string][]string{}
	}
	return Message{m.Headers, m.Bytes, m.SHA256, m.ContentEncoding, m.DecodeError, m.Omitted}
}

// Exchange is one exchange in full.
type Exchange struct {
	Row
	Request  Message           `json:"request"`
	Response Message           `json:"response"`
	UsageRaw json.RawMessage   `json:"usage_raw"`
	Input    []transcript.Item `json:"input"`
	Output   []transcript.Item `json:"output"`
	Text     string            `json:"text"`
	Pairs    []transcript.Pair `json:"pairs"`
	Lint     []lint.Finding    `json:"lint"`
	Examples *Examples         `json:"examples"`       // in its input; nil if none are recognised
	Take     *Take             `json:"take,omitempty"` // that sent it; set only on request (SentBy)
}
