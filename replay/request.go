package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// ErrUndecodable says that a body is compressed and does not decode, so that
// nothing in it can be edited.
var ErrUndecodable = errors.New("the recorded request cannot be decoded")

// ErrLossy says that parts of the request passed without being recorded.
var ErrLossy = errors.New("the request was not recorded in full")

// maxBody bounds the size of a request that is replayed.
const maxBody = 64 << 20

// Request is a recorded request, edited and ready to be sent.
type Request struct {
	Origin  *transcript.Exchange
	Edits   []transcript.Edit
	Method  string
	URL     string
	Header  http.Header
	Body    []byte
	Dropped []string // recorded headers that cannot be sent again: credentials besides the key

	key keyPlace
}

// Prepare reads a recorded request and makes the edits. Without edits the
// bytes are those of the recording.
func Prepare(ctx context.Context, r transcript.Reader, origin *transcript.Exchange, edits []transcript.Edit) (*Request, error) {
	if origin.Lossy {
		return nil, ErrLossy
	}
	body, err := readBody(ctx, r, origin.Request)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	edits = slices.Clone(edits)
	req := &Request{Origin: origin, Edits: edits, Method: origin.Method, URL: origin.URL, Header: http.Header{}, Body: body}
	encoded := origin.Request.ContentEncoding
	if len(edits) > 0 && encoded != "" {
		if req.Body, err = dialect.Text(encoded, body, maxBody); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUndecodable, err)
		}
		encoded = ""
	}
	if req.Body, err = apply(origin.Dialect, req.Body, edits); err != nil {
		return nil, err
	}
	req.headers(origin.Request.Headers, encoded == "")
	return req, nil
}

func readBody(ctx context.Context, r transcript.Reader, m transcript.Message) ([]byte, error) {
	if m.Bytes == 0 {
		return nil, nil
	}
	if m.Bytes > maxBody {
		return nil, fmt.Errorf("the body has %d bytes, more than %d", m.Bytes, maxBody)
	}
	body, err := r.Body(ctx, m.Body)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// notSent are headers that belong to one connection or are set anew.
var notSent = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length", "Host", "Expect"}

// redacted begins what a recording holds in place of a credential.
const redacted = "[redacted]"

func (r *Request) headers(recorded map[string][]string, plain bool) {
	for name, values := range recorded {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case slices.Contains(notSent, canonical), plain && canonical == "Content-Encoding":
		case !strings.Contains(strings.Join(values, ""), redacted):
			r.Header[canonical] = slices.Clone(values)
		case keyHeader(canonical) && r.key.header == "":
			r.key.header = canonical
			r.key.scheme, _, _ = strings.Cut(values[0], redacted)
		default:
			r.Dropped = append(r.Dropped, canonical)
		}
	}
	slices.Sort(r.Dropped)
	if u, err := url.Parse(r.URL); err == nil {
		for name, values := range u.Query() {
			if strings.Contains(strings.Join(values, ""), redacted) {
				r.key.query = name
			}
		}
	}
}

// SendTo sends the request to another server: scheme and host are those of
// base, the path stays.
func (r *Request) SendTo(base string) error {
	b, err := url.Parse(base)
	if err != nil || b.Host == "" {
		return fmt.Errorf("parse upstream %q: not an absolute URL", base)
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return fmt.Errorf("parse recorded url: %w", err)
	}
	u.Scheme, u.Host = b.Scheme, b.Host
	r.URL = u.String()
	return nil
}
