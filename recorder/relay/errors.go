package relay

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

// UpstreamFailure returns why an upstream gave no answer, or broke off. The
// message holds no part of the request.
func UpstreamFailure(err error) *transcript.Error {
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

// ErrorReply is the body of an answer that the recorder gives itself.
type ErrorReply struct {
	Type    string   `json:"type"`
	Code    string   `json:"code,omitempty"`
	Message string   `json:"message"`
	Routes  []string `json:"upstreams,omitempty"`
}

func (a ErrorReply) json() []byte {
	b, err := json.Marshal(map[string]ErrorReply{"error": a})
	if err != nil {
		return []byte("{}")
	}
	return append(b, '\n')
}

// WriteError answers in place of an upstream.
func WriteError(w http.ResponseWriter, status int, a ErrorReply) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(a.json())
}

// describePanic describes a bug without data of a request.
func describePanic(v any) string {
	if err, ok := v.(runtime.Error); ok {
		return err.Error() + "\n" + string(debug.Stack())
	}
	return fmt.Sprintf("%T\n%s", v, debug.Stack())
}
