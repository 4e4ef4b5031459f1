package replay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// ErrUndecodable means that a body is compressed and does not decode, so that
// nothing in it can be edited.
var ErrUndecodable = errors.New("the recorded request cannot be decoded")

// ErrLossy means that parts of the request passed without being recorded.
var ErrLossy = errors.New("the request was not recorded in full")

// ErrCut means that the client stopped before it had sent the request.
var ErrCut = errors.New("the recorded request breaks off")

// ErrOmitted means that parts of the request were not stored, by choice.
var ErrOmitted = errors.New("the request was not stored whole, by choice (--omit or --redact)")

// ErrViewOnly means that an import did not bring all that was sent.
var ErrViewOnly = errors.New("it was imported without all that was sent: it can be viewed, not sent again")

// Request is a recorded request, edited and ready to be sent.
type Request struct {
	Origin *transcript.Exchange
	Edits  []transcript.Edit
	Method string
	URL    string
	Header http.Header
	Body   []byte
	// Recorded is the body that the edits were made in: that of the recording, decoded
	// if there are edits, and then with the history that the provider holds (Full).
	Recorded []byte
	Held     bool     // there was such a history, and Recorded has it
	Dropped  []string // recorded headers that cannot be sent again: credentials besides the key

	from      *original
	read      *decoded // Body as it was last decoded
	sent      []byte   // the Body that read was made of
	recorded  *decoded // Recorded
	key       keyPlace
	lent      *atomic.Int32      // how many readers of Body transports have
	done      int                // steps of takes that it goes on from
	converted transcript.Dialect // what ConvertTo made of it; "" for that of the origin
	originals map[string]string  // of tools that it renamed: their recorded names
}

// NewRequest reads a recorded request and makes the edits. Without edits the bytes are
// those of the recording. With edits the request is whole: history that only the provider
// holds is put in from the recording (Full), so that edits reach all of it; pointers
// count in that.
func NewRequest(ctx context.Context, r transcript.Reader, origin *transcript.Exchange, edits []transcript.Edit) (*Request, error) {
	o, err := readOriginal(ctx, r, origin)
	if err != nil {
		return nil, err
	}
	return o.request(ctx, r, edits)
}

// request makes the edits in the recorded request.
func (o *original) request(ctx context.Context, r transcript.Reader, edits []transcript.Edit) (*Request, error) {
	e := o.exchange
	if e.Imported == transcript.ViewOnly {
		return nil, ErrViewOnly
	}
	edits = slices.Clone(edits)
	req := &Request{Origin: e, Edits: edits, Method: e.Method, URL: e.URL, Header: http.Header{}, Body: o.body, from: o}
	if len(edits) == 0 {
		encoded := e.Request.ContentEncoding != ""
		if cut(e, o.body, !encoded) {
			return nil, ErrCut
		}
		if req.Recorded = o.body; !encoded {
			req.recorded = o.decode(o.body)
			if o.plain != nil {
				req.recorded = o.plain
			}
			o.plain, req.read, req.sent = req.recorded, req.recorded, o.body
		}
		req.headers(e.Request.Headers, !encoded)
		return req, nil
	}
	whole, err := o.whole(ctx, r)
	if err != nil {
		return nil, err
	}
	req.Recorded, req.recorded, req.Held = whole.body, whole, o.held
	made, err := apply(whole, edits)
	if err != nil {
		return nil, err
	}
	req.Body, req.read, req.sent = made.body, made, made.body
	req.headers(e.Request.Headers, true)
	return req, nil
}

func (r *Request) clone() *Request {
	own := *r
	own.Header = r.Header.Clone()
	return &own
}

// Turn returns what the body decodes to. It is decoded once; callers must not change it.
func (r *Request) Turn() (*transcript.Turn, error) {
	d, err := r.decoded()
	if err != nil {
		return nil, err
	}
	return d.turn(), nil
}

// Plain returns the body without its content encoding.
func (r *Request) Plain() ([]byte, error) {
	d, err := r.decoded()
	if err != nil {
		return nil, err
	}
	return d.body, nil
}

// With returns the request with the body that edits make of its own.
func (r *Request) With(edits []transcript.Edit, body []byte) (*Request, error) {
	before, err := r.decoded()
	if err != nil {
		return nil, err
	}
	own := r.clone()
	own.Header.Del("Content-Encoding")
	own.Edits, own.Recorded, own.recorded = edits, before.body, before
	own.Body, own.read, own.sent = body, before.with(body), body
	return own, nil
}

// decodes is where it is counted how many bodies are decoded; nil for a request that was
// put together by hand.
func (r *Request) decodes() *atomic.Int64 {
	if r.from == nil {
		return nil
	}
	return r.from.decodes
}

// before returns the body that the edits were made in.
func (r *Request) before() *decoded {
	if r.recorded == nil {
		r.recorded = newDecoded(r.Origin.Dialect, r.Origin.Method, r.Origin.URL, r.Recorded, r.decodes())
	}
	return r.recorded
}

// decoded returns the body without its content encoding, decoded once.
func (r *Request) decoded() (*decoded, error) {
	speaks := r.Speaks()
	if d := r.read; d != nil && d.speaks == speaks && sameSlice(r.sent, r.Body) {
		return d, nil
	}
	plain, err := r.plainBody()
	if err != nil {
		return nil, err
	}
	d := newDecoded(speaks, r.Method, r.URL, plain, r.decodes())
	r.read, r.sent = d, r.Body
	return d, nil
}

// notSent are headers that belong to one connection or are set for each request.
var notSent = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length", "Host", "Expect"}

// redacted begins what a recording holds in place of a credential.
const redacted = "[redacted]"

func (r *Request) headers(recorded map[string][]string, plain bool) {
	for _, name := range keyHeaders {
		if v := recorded[name]; len(v) > 0 && strings.Contains(v[0], redacted) {
			r.key.header = name
			r.key.scheme, _, _ = strings.Cut(v[0], redacted)
			break
		}
	}
	for name, values := range recorded {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case slices.Contains(notSent, canonical), strings.Contains(name, ":"): // trailers
		case plain && canonical == "Content-Encoding", canonical == r.key.header:
		case strings.Contains(strings.Join(values, ""), redacted):
			r.Dropped = append(r.Dropped, canonical)
		default:
			r.Header[canonical] = slices.Clone(values)
		}
	}
	r.queryKey()
	slices.Sort(r.Dropped)
}

// queryKey finds the credential in the query; further ones cannot be sent.
func (r *Request) queryKey() {
	_, query, _ := strings.Cut(r.URL, "?")
	for _, pair := range strings.Split(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(value); err != nil || !strings.Contains(plain, redacted) {
			continue
		}
		if r.key.query == "" && r.key.header == "" {
			r.key.query = name
		} else {
			r.Dropped = append(r.Dropped, "?"+name)
		}
	}
}

// cut reports whether a request was recorded only in part: shorter than it was
// announced, or JSON that breaks off.
func cut(e *transcript.Exchange, body []byte, plain bool) bool {
	for name, values := range e.Request.Headers {
		if http.CanonicalHeaderKey(name) == "Content-Length" && len(values) == 1 && values[0] != strconv.FormatInt(e.Request.Bytes, 10) {
			return true
		}
	}
	return plain && e.Dialect != transcript.Unknown && !rawjson.Valid(body)
}

// SendTo sends the request to another server: scheme and host are those of
// base, the path stays. ErrUpstream if base is no absolute URL.
func (r *Request) SendTo(base string) error {
	b, err := url.Parse(base)
	if err != nil || b.Host == "" {
		return fmt.Errorf("parse upstream %q: %w", base, ErrUpstream)
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return fmt.Errorf("parse recorded url: %w", err)
	}
	u.Scheme, u.Host = b.Scheme, b.Host
	r.URL = u.String()
	return nil
}
