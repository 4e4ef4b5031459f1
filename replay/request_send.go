package replay

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// Response is what came back to a Request, as far as it is held to go on with it.
// All of it is in the recording.
type Response struct {
	Status int
	Header http.Header
	Body   []byte // as on the wire
}

// Send sends the request through a recording transport and reads the answer to
// its end. With an error the Response is what came until then, nil if nothing did.
func (r *Request) Send(ctx context.Context, transport http.RoundTripper) (*Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("build request: %w", err)
	}
	if len(r.Body) > 0 {
		if r.lent == nil {
			r.lent = &atomic.Int32{}
		}
		body := r.Body
		req.Body, req.ContentLength = newLentBody(body, r.lent), int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return newLentBody(body, r.lent), nil }
	}
	req.Header = r.Header.Clone()
	if req.Header.Get("User-Agent") == "" {
		req.Header["User-Agent"] = nil // net/http would add its own
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("send request: %w", err)
	}
	defer resp.Body.Close()
	out := &Response{Status: resp.StatusCode, Header: resp.Header}
	if out.Body, err = io.ReadAll(io.LimitReader(resp.Body, history.MaxBody)); err == nil {
		var more int64
		if more, err = io.Copy(io.Discard, resp.Body); more > 0 && err == nil {
			err = fmt.Errorf("more than %d bytes", history.MaxBody)
		}
	}
	if err != nil {
		return out, fmt.Errorf("read answer: %w", err)
	}
	return out, nil
}

// lentBody is a body that a transport reads, perhaps for longer than until the answer
// is there, and closes when it has done with it.
type lentBody struct {
	*bytes.Reader
	lent   *atomic.Int32 // how many are not closed
	closed atomic.Bool
}

func newLentBody(body []byte, lent *atomic.Int32) *lentBody {
	lent.Add(1)
	return &lentBody{Reader: bytes.NewReader(body), lent: lent}
}

func (b *lentBody) Close() error {
	if !b.closed.Swap(true) {
		b.lent.Add(-1)
	}
	return nil
}

// isLent reports whether a transport may still read a body that was sent.
func (r *Request) isLent() bool { return r.lent != nil && r.lent.Load() > 0 }

// turn decodes an answer to the request.
func (r *Request) turn(resp *Response) *transcript.Turn {
	// As far as it can be decoded: where it breaks off the turn is not complete.
	body, err := history.Plain(resp.Header.Get("Content-Encoding"), resp.Body)
	t := dialect.Decode(r.Speaks(), &dialect.Wire{Method: r.Method, URL: r.URL, Status: resp.Status, ResponseHeader: resp.Header, Response: body})
	if err != nil {
		t.Complete = false
	}
	return t
}
