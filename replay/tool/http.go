package tool

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// HTTP posts the arguments of each call of one tool to a URL. The body of the answer
// is the result; with a status of 400 or more it is an error.
type HTTP struct {
	Name    string // of the tool
	URL     string
	Client  *http.Client  // nil: http.DefaultClient
	Timeout time.Duration // 0: DefaultTimeout
}

// Covers implements replay.Source.
func (h *HTTP) Covers(c *replay.Call) bool { return c.Is(h.Name) }

// Answer implements replay.Source. A server that does not answer is an error
// result, too.
func (h *HTTP) Answer(ctx context.Context, c *replay.Call) (*replay.Result, error) {
	run, cancel := context.WithTimeout(ctx, timeout(h.Timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(run, http.MethodPost, h.URL, bytes.NewReader(c.Input()))
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", h.Name, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Retake-Tool", h.Name)
	req.Header.Set("X-Retake-Call-Id", c.CallID)
	client := h.Client
	if client == nil {
		client = http.DefaultClient
	}
	r := &replay.Result{Source: transcript.FromHTTP}
	resp, err := client.Do(req)
	if err == nil {
		defer resp.Body.Close()
		var out bounded
		_, err = io.Copy(&out, resp.Body)
		r.Text, r.IsError = out.String(), resp.StatusCode >= http.StatusBadRequest
		if r.Text == "" && r.IsError {
			r.Text = resp.Status
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		r.Text, r.IsError = err.Error(), true
	}
	return r, nil
}
