package recorder_test

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"
)

// tlsServer starts a TLS server and gives its URL and the pool that trusts it.
func tlsServer(t testing.TB, h2 bool, h http.Handler) (string, *x509.CertPool) {
	srv := httptest.NewUnstartedServer(h)
	srv.EnableHTTP2 = h2
	srv.StartTLS()
	t.Cleanup(srv.Close)
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	return srv.URL, pool
}
