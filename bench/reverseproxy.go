package main

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// newReverseProxy is what the standard library offers, configured as well as
// possible: connections are kept, buffers reused, writes flushed at once.
func newReverseProxy(to string) (http.Handler, error) {
	u, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	p := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(u) },
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1024, IdleConnTimeout: 90 * time.Second, DisableCompression: true},
		BufferPool:    &buffers{sync.Pool{New: func() any { return new([32 << 10]byte) }}},
		FlushInterval: -1,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Without this it loses answers: the server closes the request body while
		// the transport still reads it.
		http.NewResponseController(w).EnableFullDuplex()
		p.ServeHTTP(w, r)
	}), nil
}

type buffers struct{ sync.Pool }

func (b *buffers) Get() []byte  { return b.Pool.Get().(*[32 << 10]byte)[:] }
func (b *buffers) Put(p []byte) { b.Pool.Put((*[32 << 10]byte)(p)) }
