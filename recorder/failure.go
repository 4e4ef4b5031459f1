package recorder

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/retake-debugger/retake/transcript"
)

// upstreamFailure says why an upstream gave no answer, or broke off. The
// message holds no part of the request.
func upstreamFailure(err error) *transcript.Error {
	return &transcript.Error{Type: "upstream_error", Code: failureCode(err), Message: strings.TrimPrefix(err.Error(), "net/http: ")}
}

func failureCode(err error) string {
	var dns *net.DNSError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var cert *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var timeout net.Error
	switch {
	case errors.Is(err, errSelf):
		return "loop"
	case errors.As(err, &dns):
		return "dns_failure"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection_refused"
	case errors.As(err, &record), errors.As(err, &alert), errors.As(err, &cert), errors.As(err, &authority), strings.Contains(err.Error(), "tls: "):
		return "tls_failure"
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, errRetry), strings.Contains(err.Error(), "server closed idle connection"):
		return "connection_reset"
	}
	return "failure"
}

// apology is an answer of the recorder's own.
type apology struct {
	Type    string   `json:"type"`
	Code    string   `json:"code,omitempty"`
	Message string   `json:"message"`
	Routes  []string `json:"upstreams,omitempty"`
}

func (a apology) body() []byte {
	b, err := json.Marshal(map[string]apology{"error": a})
	if err != nil {
		return []byte("{}")
	}
	return append(b, '\n')
}

// apologise answers instead of an upstream.
func apologise(w http.ResponseWriter, status int, a apology) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(a.body())
}

// describePanic says what a bug was, without data of a request.
func describePanic(v any) string {
	if err, ok := v.(runtime.Error); ok {
		return err.Error() + "\n" + string(debug.Stack())
	}
	return fmt.Sprintf("%T\n%s", v, debug.Stack())
}
