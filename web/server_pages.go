package web

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/web/safehtml"
)

//go:embed templates
var templates embed.FS

// layout is the common part of all pages.
type layout struct {
	Title string
	Live  bool   // the page refreshes itself
	Lost  string // what cannot be shown because the database is damaged, in a sentence
}

type errorPage struct {
	layout
	Status  int
	Message string
}

func parsePages(s *server) *template.Template {
	t := template.New("pages").Funcs(template.FuncMap{
		"runs": safehtml.Runs, "many": many, "plain": safehtml.Plain, "size": size, "count": count, "compact": compact, "ms": duration, "sum": sumOf, "outof": outOf, "msf": func(ms float64) string { return duration(&ms) },
		"short": shortID, "time": s.clock, "fulltime": s.fullTime, "asset": s.assetURL, "one": oneLine,
		"percent": percent, "percentint": func(a, b int) string { return percent(int64(a), int64(b)) }, "path": pathOf, "count64": func(n int) string { return count(int64(n)) },
		"pointat": func() []string { return s.pointAt }, "hiturl": hitURL, "timeline": newTimeline, "hitwhat": hitWhat, "dollars": dollars, "share": share, "compareurl": compareURL,
		"between": between, "points": points, "exportmenu": newExportMenu, "pvalue": pValue, "bytes": func(n *float64) string { return size(int64(*n)) }, "unitlabel": unitLabel, "add": func(a, b int) int { return a + b }, "dialects": dialect.Names, "bytesint": func(n int) string { return size(int64(n)) },
	})
	return template.Must(t.ParseFS(templates, "templates/*.html"))
}

// show renders a page. It is built before the first byte is sent, so that an error
// results in an error page and not in half a page.
func (s *server) show(c *gin.Context, status int, name string, page any) {
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, name, page); err != nil {
		s.log.Error("build page", "page", name, "error", err)
		c.Data(http.StatusInternalServerError, "text/plain; charset=utf-8", []byte("This page could not be built.\n"))
		return
	}
	c.Data(status, "text/html; charset=utf-8", b.Bytes())
}

func (s *server) json(c *gin.Context, status int, v any) {
	body, err := json.Marshal(rawjson.Shallow(v))
	if err != nil {
		s.log.Error("write json", "path", c.Request.URL.Path, "error", err)
		status, body = http.StatusInternalServerError, []byte(`{"error":"This could not be written as JSON."}`)
	}
	c.Data(status, "application/json; charset=utf-8", append(body, '\n'))
}

// fail answers with an error sentence, as a page or as JSON for the API.
func (s *server) fail(c *gin.Context, status int, message string) {
	if strings.HasPrefix(c.Request.URL.Path, "/api/") {
		s.json(c, status, map[string]string{"error": message})
		return
	}
	s.show(c, status, "error", errorPage{layout{Title: titleOf(status)}, status, message})
}

// titleOf names a status as a heading: "Not found".
func titleOf(status int) string {
	text := strings.ToLower(http.StatusText(status))
	if text == "" {
		return "Failed"
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// failed answers with a read error.
func (s *server) failed(c *gin.Context, err error) {
	var missing *missingError
	switch {
	case errors.As(err, &missing):
		s.fail(c, missing.status, missing.message)
	case errors.Is(err, context.Canceled):
		c.Abort()
	default:
		s.log.Error("read for page", "path", c.Request.URL.Path, "error", err)
		s.fail(c, http.StatusInternalServerError, "This could not be read: "+err.Error()+".")
	}
}

// pathOf returns a URL without scheme and host.
func pathOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return url
}
