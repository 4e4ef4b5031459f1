package recorder

import (
	"bufio"
	"net"
	"net/http"

	"github.com/retake-debugger/retake/recorder/relay"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/transcript"
)

// Middleware returns a handler that records what passes through next: the request
// as far as next reads it, and the answer. It can wrap a gin engine.
func Middleware(next http.Handler, opts Options) http.Handler {
	opts.fill()
	writers := relay.NewAsyncWriters(opts.stall())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := opts.record(r, r.URL.Path)
		if c == nil {
			next.ServeHTTP(w, r)
			return
		}
		a := writers.New(c)
		b := opts.begin(r.Context(), c, r)
		b.URL = requestURL(r)
		b.Upstream = r.Host
		a.Meta(spool.FrameBegin, b)
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &sentBody{ReadCloser: r.Body, a: a, r: r}
		} else {
			a.Meta(spool.FrameRequestEnd, &spool.Ending{})
		}
		rec := &recordingWriter{ResponseWriter: w, a: a}
		e := &spool.Ending{Outcome: transcript.UpstreamReset} // if next panics
		defer func() { a.End(e) }()
		next.ServeHTTP(rec, r)
		rec.head(http.StatusOK)
		e = &spool.Ending{Outcome: transcript.OK}
		if rec.failed || r.Context().Err() != nil {
			e.Outcome = transcript.ClientDisconnect
		}
	})
}

// requestURL is the URL that the client asked for, as far as the server knows.
func requestURL(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	u := scheme + "://" + r.Host + rawPath(r)
	if r.URL.RawQuery != "" {
		u += "?" + r.URL.RawQuery
	}
	return u
}

// recordingWriter records an answer before it is passed on.
type recordingWriter struct {
	http.ResponseWriter
	a      *relay.AsyncWriter
	begun  bool
	failed bool
}

func (w *recordingWriter) head(status int) {
	if w.begun || (status < 200 && status != http.StatusSwitchingProtocols) {
		return
	}
	w.begun = true
	w.a.Meta(spool.FrameHead, &spool.Head{Status: status, Header: w.Header()})
}

func (w *recordingWriter) WriteHeader(status int) {
	w.head(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *recordingWriter) Write(p []byte) (int, error) {
	w.head(http.StatusOK)
	w.a.Body(spool.FrameResponse, p)
	n, err := w.ResponseWriter.Write(p)
	w.failed = w.failed || err != nil
	return n, err
}

func (w *recordingWriter) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

func (w *recordingWriter) Flush() { _ = w.FlushError() }

func (w *recordingWriter) FlushError() error {
	w.head(http.StatusOK)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack hands over the connection. What passes through it is not recorded.
func (w *recordingWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.head(http.StatusSwitchingProtocols)
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// CloseNotify exists for gin's Stream.
func (w *recordingWriter) CloseNotify() <-chan bool {
	if n, ok := w.ResponseWriter.(http.CloseNotifier); ok { //nolint:staticcheck // gin needs it
		return n.CloseNotify()
	}
	return make(chan bool)
}

// Unwrap exists for http.ResponseController.
func (w *recordingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
