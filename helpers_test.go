package retake_test

import (
	"io"
	"net/url"
	"sync"
	"testing"

	_ "github.com/mattn/go-sqlite3" // a foreign process that holds the database
)

func mustURL(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// lockedWriter lets several goroutines write a log.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
