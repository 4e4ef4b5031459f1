package web

import (
	"cmp"
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
)

// Options configure what is served and to whom.
type Options struct {
	Reader transcript.Reader
	// Update changes the users' data about runs in one transaction; nil if the
	// database is read-only.
	Update func(context.Context, func(transcript.Tx) error) error
	// Replaying sends recorded steps again; nil if this viewer cannot.
	Replaying *Replaying
	// Playing are the replays in progress, including those of earlier viewers; nil
	// for none.
	Playing *Playing
	// AllowHosts are Host names, without a port, that are served in addition to
	// loopback.
	AllowHosts []string
	// AllowOrigins are foreign origins (https://name:port) that may read.
	AllowOrigins []string
	// Token is required if it is not empty: in the header X-Retake-Token, or once in
	// a form.
	Token string
	// Prices are the token prices; nil for the built-in ones.
	Prices *pricing.Table
	// Version of this program, for exports.
	Version string
	// MostImport bounds an upload of files in bytes; 0 for 2 GB.
	MostImport int64
	// InFlight returns what is being recorded; nil if that is not known.
	InFlight func() []*transcript.Capture
	// PointAt returns the client settings that lead to the recorder which serves the
	// viewer, one a line; nil if the recorder is another program.
	PointAt []string
	// Log receives errors; nil for none.
	Log *slog.Logger
	// Now is the clock; times are shown in its zone. nil for the system's.
	Now func() time.Time
}

type server struct {
	reader       transcript.Reader
	update       func(context.Context, func(transcript.Tx) error) error
	replaying    *Replaying
	takes        *Playing
	imports      *imports
	found        *foundCounts
	mostImport   int64
	version      string
	prices       *pricing.Table
	inFlight     func() []*transcript.Capture
	pointAt      []string
	log          *slog.Logger
	now          func() time.Time
	pages        *template.Template
	assets       map[string]asset
	assetVersion string
	guard        *guard
}

// New returns the handler that serves the pages. Every change is a POST with a
// token from a page.
func New(o Options) http.Handler {
	s := &server{reader: o.Reader, update: o.Update, replaying: o.Replaying, takes: cmp.Or(o.Playing, NewPlaying()), imports: newImports(), version: o.Version, mostImport: cmp.Or(o.MostImport, usualImport), prices: o.Prices, inFlight: o.InFlight, pointAt: o.PointAt, log: o.Log, now: o.Now, guard: newGuard(o), assets: readAssets()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.prices == nil {
		s.prices = pricing.New()
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.found = newFoundCounts(s)
	s.assetVersion = versionOf(s.assets)
	s.pages = parsePages(s)
	return s.routes()
}

func (s *server) routes() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	g.RedirectTrailingSlash = false
	g.Use(s.rescue, s.headers, s.admit, s.authenticate)
	g.NoRoute(s.short)
	get := func(path string, h gin.HandlerFunc) {
		g.GET(path, h)
		g.HEAD(path, h)
	}
	get("/", s.runs)
	get("/exchanges", s.list)
	get("/r/:ref", s.run)
	get("/r/:ref/calls", s.calls)
	get("/r/:ref/findings", s.findings)
	get("/r/:ref/time", s.time)
	get("/r/:ref/export", s.exportRun)
	get("/x/:ref", s.transcript)
	get("/x/:ref/export", s.exportExchange)
	get("/export", s.exportMany)
	get("/x/:ref/replay", s.replayForm)
	get("/x/:ref/minimise", s.minimiseForm)
	get("/x/:ref/wire", s.wire)
	get("/x/:ref/link", s.link)
	get("/t/:ref", s.take)
	get("/samples/:group", s.sample)
	get("/smallest/:group", s.smallest)
	get("/import", s.importForm)
	get("/import/:n", s.imported)
	get("/x/:ref/item", s.item)
	get("/x/:ref/details", s.details)
	get("/x/:ref/image", s.image)
	get("/x/:ref/request", s.requestBody)
	get("/x/:ref/response", s.responseBody)
	get("/search", s.search)
	get("/compare", s.compare)
	get("/tools", s.tools)
	get("/stats", s.stats)
	get("/api/search", s.apiSearch)
	get("/api/diff", s.apiDiff)
	get("/api/compare", s.apiCompare)
	get("/api/calls", s.apiCalls)
	get("/api/stats", s.apiStats)
	get("/api/samples/:group", s.apiSample)
	get("/api/smallest/:group", s.apiSmallest)
	get("/api/runs", s.apiRuns)
	get("/api/runs/:ref", s.apiRun)
	get("/api/exchanges", s.apiList)
	get("/api/exchanges/:ref", s.apiExchange)
	get("/static/:version", s.asset) // or a name without a version
	get("/static/:version/:name", s.asset)
	get("/login", s.loginForm)
	g.POST("/login", s.login)
	g.POST("/r/:ref/marks", s.changes(maxForm), s.setMarks)
	g.POST("/x/:ref/replay", s.changes(maxEdits), s.replayPost)
	g.POST("/x/:ref/minimise", s.changes(maxForm), s.minimisePost)
	g.POST("/x/:ref/link", s.changes(maxForm), s.setLink)
	g.POST("/t/:ref/stop", s.changes(maxForm), s.stopTake)
	g.POST("/import", s.importPost)
	g.POST("/t/:ref/resume", s.changes(maxEdits), s.resumeTake)
	g.POST("/samples/:group/stop", s.changes(maxForm), s.stopSample)
	g.POST("/smallest/:group/stop", s.changes(maxForm), s.stopSmallest)
	return g
}
