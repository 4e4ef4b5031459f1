package web

import (
	"cmp"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/view"
)

// shortForm is a reference as the commands write it.
var shortForm = regexp.MustCompile(`^(x[0-9]{1,18}|x:last(~[0-9]{1,9})?|t[0-9]{1,18}|(r[0-9]{1,18}|last(~[0-9]{1,9})?)(/a[0-9]{1,9})?(\.[0-9]{1,9})?)$`)

// subpage is a page of a reference as the commands write it.
var subpage = regexp.MustCompile(`^/([rx])([0-9]{1,18})/(calls|export|findings|link|minimise|replay|time|wire)$`)

// short redirects a reference as the commands write it to its page: /r1, /r1.2,
// /r1/a2, /x:last, /x1/link.
func (s *server) short(c *gin.Context) {
	read := c.Request.Method == http.MethodGet || c.Request.Method == http.MethodHead
	if m := subpage.FindStringSubmatch(c.Request.URL.Path); m != nil && read {
		c.Redirect(http.StatusFound, "/"+m[1]+"/"+m[2]+"/"+m[3])
		return
	}
	ref := strings.TrimPrefix(c.Request.URL.Path, "/")
	if !shortForm.MatchString(ref) || !read {
		s.fail(c, http.StatusNotFound, "There is no such page.")
		return
	}
	if take, ok := strings.CutPrefix(ref, "t"); ok {
		c.Redirect(http.StatusFound, "/t/"+take)
		return
	}
	t, err := view.Locate(c.Request.Context(), s.reader, ref)
	if err != nil {
		s.failed(c, missing(err, "There is no "+ref+" here."))
		return
	}
	if t.Run == nil {
		c.Redirect(http.StatusFound, exchangeURL(t.Exchange.N))
		return
	}
	to := runURL(t.Run.N, t.Agent, 0)
	if t.Step > 0 {
		v, err := view.NewRun(c.Request.Context(), s.reader, t.Run, s.now())
		if err != nil {
			s.failed(c, missing(err, "Nothing of that run is left."))
			return
		}
		to = cmp.Or(stepURL(v, t.Exchange.N, t.Agent), exchangeURL(t.Exchange.N))
	}
	c.Redirect(http.StatusFound, to)
}

func exchangeURL(n int64) string { return "/x/" + strconv.FormatInt(n, 10) }
