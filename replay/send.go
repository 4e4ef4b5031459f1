package replay

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
)

// Send sends the request through a recording transport and reads the answer to
// its end. The answer itself is in the recording.
func (r *Request) Send(ctx context.Context, transport http.RoundTripper) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return 0, fmt.Errorf("build request: %w", err)
	}
	req.Header = r.Header.Clone()
	if req.Header.Get("User-Agent") == "" {
		req.Header["User-Agent"] = nil // net/http would add its own
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return 0, fmt.Errorf("send request: %w", err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return resp.StatusCode, fmt.Errorf("read answer: %w", err)
	}
	return resp.StatusCode, nil
}
