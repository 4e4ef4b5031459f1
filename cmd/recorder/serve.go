package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/cmd/internal/server"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// stopWithin bounds how long a stop waits for what is in flight.
const stopWithin = 10 * time.Second

// session is a running recorder.
type session struct {
	options   *options
	upstreams []recorder.Upstream // none: the well-known providers
	path      string              // of the database
	log       *slog.Logger
	db        *retake.DB
	relay     *recorder.Proxy
	proxy     *http.Server
	viewer    *http.Server
	proxyAt   net.Listener
	viewerAt  net.Listener
	page      atomic.Pointer[func() http.Handler] // returns the viewer of the open database
	failed    chan error
	memory    context.CancelFunc // ends what keeps memory small
}

// serve records until it is told to stop.
func serve(ctx context.Context, o *options) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer context.AfterFunc(ctx, stop)() // a second signal ends the process at once
	upstreams, err := parseUpstreams(o.upstreams)
	if err != nil {
		return err
	}
	s, err := start(o, upstreams, "")
	if err != nil {
		return err
	}
	if err := s.opened(ctx); err != nil && ctx.Err() == nil { // being stopped meanwhile is no error
		return errors.Join(err, s.stop())
	}
	s.greet()
	select {
	case <-ctx.Done():
		s.log.Info("stop: wait for what is in flight; once more to stop at once", "at_most", stopWithin)
	case err = <-s.failed:
	}
	return errors.Join(err, s.stop())
}

// start listens first and opens the database after it: an agent never waits for a
// database.
func start(o *options, upstreams []recorder.Upstream, label string) (*session, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	scrub, err := o.scrubber()
	if err != nil {
		return nil, err
	}
	path, err := o.path()
	if err != nil {
		return nil, err
	}
	s := &session{options: o, upstreams: upstreams, path: path, log: server.Log(o.stderr, o.logFormat), failed: make(chan error, 2), memory: func() {}}
	if s.db, err = retake.OpenSpool(path, retake.Options{Label: label, Omit: o.omit, Redact: scrub, Log: s.log}); err != nil {
		return nil, err
	}
	if err := s.listen(); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	s.keepSmall()
	playing, pointAt := web.NewPlaying(), slices.Concat(s.settings(), s.routes())
	s.db.Start(func(db *store.DB) {
		replaying := &web.Replaying{Player: s.db.Player, Key: o.getenv}
		// Made for the first request: its pages take more memory than everything else
		// before traffic comes.
		made := sync.OnceValue(func() http.Handler {
			return web.New(web.Options{Version: retake.Version(), Reader: db, Update: db.Update, Replaying: replaying, Playing: playing, InFlight: func() []*transcript.Capture { return inFlight(path) }, AllowHosts: o.hosts, AllowOrigins: o.origins, Token: o.token, PointAt: pointAt, Log: s.log, Now: time.Now})
		})
		s.page.Store(&made)
	})
	return s, nil
}

// keepSmall keeps memory small, unless the user has set GOGC.
func (s *session) keepSmall() {
	if s.options.getenv("GOGC") != "" {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.memory = cancel
	go newMemory(s.db.Recording().Spool).run(ctx)
}

// inFlight returns what recorders of this database have in flight. What cannot be read
// is left out; it shows up after its end.
func inFlight(db string) []*transcript.Capture {
	list, _ := spool.InFlight(retake.SpoolDir(db))
	return list
}

// openWithin is how long a start waits for an error about the database. A database
// that is only busy is waited for while recording.
const openWithin = 2 * time.Second

// opened returns an error for a database that cannot be used, so that a mistyped path
// is noticed at once.
func (s *session) opened(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	return s.db.Opened(ctx)
}

func (s *session) listen() error {
	var err error
	if s.proxyAt, err = server.Listen(s.options.listen); err != nil {
		return fmt.Errorf("%w; --listen takes another address", err)
	}
	if s.relay, err = s.newRelay(); err != nil {
		return errors.Join(err, s.proxyAt.Close())
	}
	s.proxy = &http.Server{ErrorLog: quiet(s.log)}
	go s.failing(s.proxyAt, func() error { return s.relay.Serve(s.proxy, s.proxyAt) })
	if s.options.web == "off" {
		return nil
	}
	if s.viewerAt, err = server.Listen(s.options.web); err != nil {
		s.log.Warn("no viewer: --web takes another address; recording goes on", "error", err)
		return nil
	}
	s.viewer = &http.Server{Handler: http.HandlerFunc(s.serveViewer), ErrorLog: quiet(s.log), ReadHeaderTimeout: 10 * time.Second}
	go s.failing(s.viewerAt, func() error { return s.viewer.Serve(s.viewerAt) })
	return nil
}

func (s *session) newRelay() (*recorder.Proxy, error) {
	roots, err := s.options.rootCAs()
	if err != nil {
		return nil, err
	}
	o := s.db.Recording()
	o.Listen = s.proxyAt.Addr().String()
	o.Upstreams, o.Token = orKnown(s.upstreams), s.options.token
	o.AllowHosts, o.AllowOrigins, o.RootCAs = s.options.hosts, s.options.origins, roots
	o.Proxy = http.ProxyFromEnvironment
	o.WebSockets = s.options.websocket == "relay"
	o.ExcludePaths, o.ExcludeHeaders = s.options.paths, s.options.headers
	o.Status = s.db.Status
	return recorder.NewProxy(o)
}

func (s *session) failing(l net.Listener, serve func() error) {
	if err := serve(); !errors.Is(err, http.ErrServerClosed) {
		s.failed <- fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
}

func (s *session) serveViewer(w http.ResponseWriter, r *http.Request) {
	page := s.page.Load()
	if page == nil {
		http.Error(w, "The database is not open yet; the recorder's log says why. What is recorded meanwhile is kept.", http.StatusServiceUnavailable)
		return
	}
	(*page)().ServeHTTP(w, r)
}

// greet prints where the recorder listens and what to set.
func (s *session) greet() {
	out := s.options.stderr
	fmt.Fprintf(out, "recording on %s into %s\n", s.shownURL(), s.path)
	for _, line := range append(s.settings(), s.routes()...) {
		fmt.Fprintf(out, "  %s\n", line)
	}
	if s.viewerAt != nil {
		fmt.Fprintf(out, "viewer on http://%s/\n", s.viewerAt.Addr())
	}
}

// shownURL returns the base URL without the token.
func (s *session) shownURL() string {
	if s.options.token == "" {
		return s.url()
	}
	return strings.Replace(s.url(), s.options.token, "TOKEN", 1)
}

// settings returns the variables that point a client here.
func (s *session) settings() []string {
	var lines []string
	for _, c := range clients() {
		if path, ok := basePath(s.upstreams, c); ok && c.Usual {
			lines = append(lines, c.Variable+"="+s.shownURL()+path)
		}
	}
	return lines
}

// routes returns the paths of the upstreams that the user named.
func (s *session) routes() []string {
	if len(s.options.upstreams) == 0 {
		return nil
	}
	var lines []string
	for _, up := range s.upstreams {
		path := ""
		if up.Name != "" {
			path = "/" + up.Name
		}
		lines = append(lines, fmt.Sprintf("%s%s/ goes to %s", s.shownURL(), path, up.URL))
	}
	return lines
}

// url returns the base URL of the recorder.
func (s *session) url() string {
	at := "http://" + s.proxyAt.Addr().String()
	if s.options.token != "" {
		at += "/_t/" + s.options.token
	}
	return at
}

// stop waits for what is in flight, at most stopWithin, stores what the spool holds and
// closes everything.
func (s *session) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	s.memory()
	if s.viewer != nil {
		s.viewer.Close()
	}
	err := s.proxy.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	// Shutdown does not wait for upgraded connections.
	err = errors.Join(err, s.relay.Close(), s.proxy.Close())
	return errors.Join(err, s.db.Close())
}

// quiet logs what net/http says about single connections at debug level.
func quiet(to *slog.Logger) *log.Logger { return slog.NewLogLogger(to.Handler(), slog.LevelDebug) }
