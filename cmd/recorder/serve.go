package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/retake-debugger/retake/cmd/internal/workspace"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/web"
)

// stopWithin bounds how long a stop waits for what is in flight.
const stopWithin = 10 * time.Second

// session is a running recorder.
type session struct {
	options   *options
	log       *slog.Logger
	workspace *workspace.Workspace
	relay     *recorder.Proxy
	proxy     *http.Server
	viewer    *http.Server
	proxyAt   net.Listener
	viewerAt  net.Listener
	page      atomic.Pointer[http.Handler] // the viewer of the open database
	failed    chan error
}

// serve records until ctx ends.
func serve(ctx context.Context, o *options) error {
	s, err := start(ctx, o, "")
	if err != nil {
		return err
	}
	s.greet()
	select {
	case <-ctx.Done():
		s.log.Info("stop: finish what is in flight", "at_most", stopWithin)
	case err = <-s.failed:
	}
	return errors.Join(err, s.stop())
}

// start listens, then opens what is behind: an agent is never kept waiting by
// a database.
func start(ctx context.Context, o *options, label string) (*session, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	upstreams, err := parseUpstreams(o.upstreams)
	if err != nil {
		return nil, err
	}
	path, err := o.path()
	if err != nil {
		return nil, err
	}
	s := &session{options: o, log: workspace.Logger(o.stderr, o.logFormat), failed: make(chan error, 2)}
	if s.workspace, err = workspace.OpenSpool(path, s.log); err != nil {
		return nil, err
	}
	if err := s.listen(upstreams, label); err != nil {
		return nil, errors.Join(err, s.workspace.Close(ctx))
	}
	s.workspace.Start(func(db *store.DB) {
		h := web.New(web.Options{Reader: db, AllowHosts: o.hosts, AllowOrigins: o.origins, Token: o.token, Log: s.log, Now: time.Now})
		s.page.Store(&h)
	})
	return s, nil
}

func (s *session) listen(upstreams []recorder.Upstream, label string) error {
	var err error
	if s.proxyAt, err = net.Listen("tcp", s.options.listen); err != nil {
		return fmt.Errorf("listen: %w; another recorder may be running, --listen takes another address", err)
	}
	if s.relay, err = s.newRelay(upstreams, label); err != nil {
		return errors.Join(err, s.proxyAt.Close())
	}
	s.proxy = &http.Server{Handler: s.relay, ErrorLog: quiet(s.log)}
	go s.run(s.proxy, s.proxyAt)
	if s.options.web == "off" {
		return nil
	}
	if s.viewerAt, err = net.Listen("tcp", s.options.web); err != nil {
		s.log.Warn("no viewer: its address is taken; recording goes on", "error", err)
		return nil
	}
	s.viewer = &http.Server{Handler: http.HandlerFunc(s.serveViewer), ErrorLog: quiet(s.log), ReadHeaderTimeout: 10 * time.Second}
	go s.run(s.viewer, s.viewerAt)
	return nil
}

func (s *session) newRelay(upstreams []recorder.Upstream, label string) (*recorder.Proxy, error) {
	roots, err := s.options.rootCAs()
	if err != nil {
		return nil, err
	}
	o := s.workspace.Recording()
	o.Listen = s.proxyAt.Addr().String()
	o.Upstreams, o.Label, o.Token = upstreams, label, s.options.token
	o.AllowHosts, o.AllowOrigins, o.RootCAs = s.options.hosts, s.options.origins, roots
	o.Proxy = http.ProxyFromEnvironment
	o.Status = s.workspace.Status
	return recorder.NewProxy(o)
}

func (s *session) run(server *http.Server, l net.Listener) {
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		s.failed <- fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
}

func (s *session) serveViewer(w http.ResponseWriter, r *http.Request) {
	page := s.page.Load()
	if page == nil {
		http.Error(w, "The database is not open yet; the recorder's log says why. What is recorded meanwhile is kept.", http.StatusServiceUnavailable)
		return
	}
	(*page).ServeHTTP(w, r)
}

// greet says where the recorder is and what to set.
func (s *session) greet() {
	at := "http://" + s.proxyAt.Addr().String()
	if s.options.token != "" {
		at += "/_t/TOKEN"
	}
	fmt.Fprintf(s.options.stderr, "recording on %s\n  OPENAI_BASE_URL=%s/v1\n  ANTHROPIC_BASE_URL=%s\n", at, at, at)
	if s.viewerAt != nil {
		fmt.Fprintf(s.options.stderr, "viewer on http://%s/\n", s.viewerAt.Addr())
	}
}

// stop ends what is in flight, at most within stopWithin, takes in the spool
// and closes all.
func (s *session) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	if s.viewer != nil {
		s.viewer.Close()
	}
	err := s.proxy.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(s.relay.Close(), s.proxy.Close())
	}
	return errors.Join(err, s.workspace.Close(context.Background()))
}

// quiet keeps what net/http says about single connections out of the way.
func quiet(to *slog.Logger) *log.Logger { return slog.NewLogLogger(to.Handler(), slog.LevelDebug) }
