package view

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// Live is an exchange in progress: what has arrived so far. It has no number. Its
// place in a run is only known from the history that it continues.
type Live struct {
	Row
	RunRef  string  `json:"run_ref"` // "" if it begins a history, or if that is unknown
	Entries []Entry `json:"entries"` // the new items of the request, then the answer so far
}

// liveLooks bounds how many positions in a history are looked up.
const liveLooks = 32

// NewLive reads an exchange in progress.
func NewLive(ctx context.Context, r transcript.Reader, c *transcript.Capture, now time.Time) (*Live, error) {
	w := &dialect.Wire{Method: c.Method, URL: c.URL, Status: c.Status, RequestHeader: c.RequestHeader, ResponseHeader: c.ResponseHeader}
	var err error
	if w.Request, err = capturedText(c.Request, c.RequestHeader); err != nil {
		return nil, fmt.Errorf("read request under way: %w", err)
	}
	if w.Response, err = capturedText(c.Response, c.ResponseHeader); err != nil {
		return nil, fmt.Errorf("read answer under way: %w", err)
	}
	turn := dialect.Decode(dialect.Recognise(w), w)
	e := &transcript.Exchange{ID: c.ID, StartedAt: c.StartedAt, Upstream: c.Upstream, Method: c.Method, URL: c.URL, Status: c.Status, Outcome: transcript.InProgress,
		Lossy: c.Lossy, Dialect: turn.Dialect, Model: turn.Model, ResponseModel: turn.ResponseModel, Stream: turn.Stream,
		Timing: transcript.Timing{FirstByte: c.FirstByte, Duration: now.Sub(c.StartedAt)}}
	parent, shared, err := goesOnFrom(ctx, r, turn)
	if err != nil {
		return nil, err
	}
	v := &Live{Entries: []Entry{}}
	if parent != nil {
		e.Link.Parent, e.Link.Run = parent.ID, parent.Link.Run
		if run, err := r.Run(ctx, parent.Link.Run); err == nil {
			v.RunRef = RunRef(run.N)
		} else if lost(err) == "" {
			return nil, err
		}
	}
	fresh := turn.Input
	if parent != nil {
		fresh = withoutReasoning(history.After(fresh, shared))
	}
	for i := range fresh {
		if it := &fresh[i]; it.Kind != transcript.ToolDefinition {
			v.add(e, "request", it)
			if it.Kind == transcript.MessageItem && it.Role == "user" {
				e.Preview = it.Text
			}
		}
	}
	for i := range turn.Output {
		if v.add(e, "response", &turn.Output[i]); turn.Output[i].Kind == transcript.ToolCall {
			e.Calls++
		}
	}
	v.Row = NewRow(e)
	return v, nil
}

func (v *Live) add(e *transcript.Exchange, body string, it *transcript.Item) {
	v.Entries = append(v.Entries, Entry{Item: *it, Place: transcript.Place{Exchange: e.ID, Body: body, At: it.At}, New: true, Output: body == "response"})
}

// goesOnFrom finds the stored exchange whose history and answer a request begins
// with, and the number of those items. Other evidence is only used when the
// exchange has ended.
func goesOnFrom(ctx context.Context, r transcript.Reader, turn *transcript.Turn) (*transcript.Exchange, int, error) {
	past := r.Before(1 << 62)
	if turn.PreviousID != "" {
		e, err := past.ByResponseID(turn.PreviousID)
		return e, 0, ignoreLost(err)
	}
	nodes := transcript.Chain(transcript.Node{}, transcript.Keys(turn.Input))
	for i := len(nodes) - 1; i >= max(0, len(nodes)-liveLooks); i-- {
		found, err := past.ByOutNode(nodes[i], 1)
		if err != nil {
			return nil, 0, ignoreLost(err)
		}
		if len(found) > 0 {
			return found[0], i + 1, ctx.Err()
		}
	}
	return nil, 0, nil
}

// capturedText reads a captured body and undoes its content encoding as far as
// possible.
func capturedText(b transcript.CapturedBody, header map[string][]string) ([]byte, error) {
	if b == nil || b.Size() == 0 || b.Size() > history.MaxBody {
		return nil, nil
	}
	body, err := b.Open()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	wire, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		if encoding := contentEncoding(name, values); encoding != "" {
			plain, _ := dialect.Text(encoding, wire, history.MaxBody) // an incomplete body is expected here
			return plain, nil
		}
	}
	return wire, nil
}

func contentEncoding(name string, values []string) string {
	if !strings.EqualFold(name, "Content-Encoding") {
		return ""
	}
	encoding := strings.ToLower(strings.Join(values, ", "))
	if encoding == "identity" {
		return ""
	}
	return encoding
}
