package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

const (
	tokenHeader = "X-Retake-Token"
	cookieName  = "retake_viewer"
	maxForm     = 16 << 10
)

type loginPage struct {
	layout
	Next  string
	Wrong bool
}

func newSession() string { return rand.Text() + rand.Text() }

// same compares in constant time, whatever the lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// authenticate asks for the token, if there is one.
func (s *server) authenticate(c *gin.Context) {
	path := c.Request.URL.Path
	if s.guard.token == "" || path == "/login" || strings.HasPrefix(path, "/static/") {
		return
	}
	if same(c.GetHeader(tokenHeader), s.guard.token) {
		return
	}
	if cookie, err := c.Request.Cookie(cookieName); err == nil && same(cookie.Value, s.guard.session) {
		return
	}
	if strings.HasPrefix(path, "/api/") {
		s.fail(c, http.StatusUnauthorized, "A token is needed, as header "+tokenHeader+".")
	} else {
		s.showLogin(c, http.StatusUnauthorized, c.Request.URL.RequestURI(), false)
	}
	c.Abort()
}

func (s *server) loginForm(c *gin.Context) {
	if s.guard.token == "" {
		c.Redirect(http.StatusSeeOther, "/")
		return
	}
	s.showLogin(c, http.StatusOK, c.Query("next"), false)
}

func (s *server) login(c *gin.Context) {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	next := localPath(c.PostForm("next"))
	if s.guard.token == "" {
		c.Redirect(http.StatusSeeOther, next)
		return
	}
	if !same(c.PostForm("token"), s.guard.token) {
		s.showLogin(c, http.StatusUnauthorized, next, true)
		return
	}
	http.SetCookie(c.Writer, &http.Cookie{
		Name: cookieName, Value: s.guard.session, Path: "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: c.Request.TLS != nil,
	})
	c.Redirect(http.StatusSeeOther, next)
}

func (s *server) showLogin(c *gin.Context, status int, next string, wrong bool) {
	// Under "no-referrer" the form would be sent with the origin "null", which
	// cannot be told from a foreign one where a browser sends no Sec-Fetch-Site.
	c.Header("Referrer-Policy", "same-origin")
	s.show(c, status, "login", loginPage{layout{Title: "Token"}, localPath(next), wrong})
}

// localPath returns next if it is a path of this server, else the first page.
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
