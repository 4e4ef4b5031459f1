package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/chromedp/chromedp"
	xhtml "golang.org/x/net/html"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// hostileTexts are texts that would do something if a page took them for what
// they look like.
func hostileTexts() map[string]string {
	long := strings.Repeat("W", 5000)
	return map[string]string{
		"a script":     payload,
		"a template":   "{{.}} {{template \"text\" .}} {{define \"value\"}}x{{end}} ${alert(1)} <%= 1 %> {% if x %}",
		"an attribute": `" onmouseover="alert(1)" x=" ' autofocus onfocus='alert(2)' ` + "`onclick=alert(3)`",
		"order":        reordering + "\u2066\u2067\u2068\u2069 \u0000 nul",
		"a long word":  long,
		"long words":   strings.Repeat(long[:300]+"\u00a0", 20) + strings.Repeat("e\u0301", 400) + "\u202e" + strings.Repeat("🏳️‍🌈", 300),
		"bytes":        "\xff\xfe\xc3(\xed\xa0\x80 end",
		"markdown":     "# <img src=x onerror=alert(1)>\n[x](javascript:alert(1)) ![p](https://evil.example/p.png)\n\n<a href=\"https://evil.example\">x</a>\n\n- **<script>alert(2)</script>**\n\n```html\n<script>alert(3)</script>\n```\n\n| a |\n|---|\n| " + long[:600] + " |\n\n<style>*{display:none}</style>\n\n[r]: https://evil.example\n",
		"a terminal":   "\x1b[31m<b>red</b>\x1b[0m \x1b[38;2;1;2;3mdark \x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \x1b[2J\x1b[999C",
		"json":         `{"<script>alert(1)</script>":"</details></div><script>alert(2)</script>","n":[` + strings.Repeat("1,", 60) + `{"\u202e":"` + long[:900] + `"}]}`,
		"a diff":       "--- a\n+++ b\n@@ -1 +1 @@\n-<script>alert(1)</script>\n+<img src=x onerror=alert(2)>\n+" + long[:900],
		"lines":        strings.Repeat("\n\t\r\n", 200) + "</pre></body></html>",
		"addresses":    "//evil.example/x /..//evil.example javascript:alert(1) data:text/html,<script>alert(1)</script> url(https://evil.example/x.css) http://evil.example?q=\"><script>",
	}
}

// jsonString writes a text as a JSON string; bytes that are no text as they are.
func jsonString(s string) string {
	if utf8.ValidString(s) {
		return quote(s)
	}
	return `"` + s + `"`
}

// hostileRun is a run that holds a text in each of its fields.
func hostileRun(n int, s string) []*transcript.Capture {
	q := jsonString(s)
	id := fmt.Sprintf("call-%d-", n) + s
	system := `[{"type":"text","text":` + q + `}]`
	tools := `[{"name":` + q + `,"description":` + q + `,"input_schema":{"type":"object","properties":{` + q + `:{"type":"string","description":` + q + `}}}}]`
	user := `{"role":"user","content":` + jsonString(fmt.Sprintf("Run %d. %s", n, s)) + `}`
	call := `{"type":"tool_use","id":` + jsonString(id) + `,"name":` + q + `,"input":{` + q + `:` + q + `,"path":` + q + `,"old_string":` + q + `,"new_string":` + jsonString(s+" new") + `}}`
	said := `{"type":"thinking","thinking":` + q + `,"signature":` + q + `},{"type":"text","text":` + q + `},` + call
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":` + jsonString(id) + `,"is_error":true,"content":[{"type":"text","text":` + q + `}]}]}`
	body := func(messages string) string {
		return `{"model":` + q + `,"max_tokens":9,"system":` + system + `,"tools":` + tools + `,"messages":[` + messages + `]}`
	}
	answer := func(content, stop string) string {
		return `{"id":` + jsonString(fmt.Sprint("msg", n, s)) + `,"type":"message","role":"assistant","model":` + q + `,"content":[` + content + `],"stop_reason":` + stop + `,"usage":{"input_tokens":12,"output_tokens":3}}`
	}
	first := user + `,{"role":"assistant","content":[` + said + `]},` + result
	list := []*transcript.Capture{
		capture(n*10+1, "/v1/messages", 200, body(user), answer(said, q)),
		capture(n*10+2, "/v1/messages", 400, body(first), `{"type":"error","error":{"type":`+q+`,"message":`+q+`}}`),
		capture(n*10+3, "/v1/messages", 200, body(first), answer(`{"type":"text","text":`+q+`},{"type":"odd","odd":`+q+`}`, `"end_turn"`)),
	}
	for _, c := range list {
		c.URL += "?q=" + s
		c.Upstream = s
		c.RequestHeader["X-Hostile"] = []string{s}
		c.ResponseHeader["X-Hostile"] = []string{s}
	}
	return list
}

// hostileStore holds a run for each text, marked with it too. It gives their
// names in the order of the runs.
func hostileStore(t testing.TB) (*store.DB, []string) {
	t.Helper()
	texts := hostileTexts()
	var names []string
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	var captures []*transcript.Capture
	for i, name := range names {
		captures = append(captures, hostileRun(i+1, texts[name])...)
	}
	db := openStore(t, captures)
	for i, name := range names {
		run, err := db.RunN(t.Context(), int64(i+1))
		if err != nil {
			t.Fatalf("the run of %s: %v", name, err)
		}
		if err := db.Update(t.Context(), func(tx transcript.Tx) error {
			s := strings.ToValidUTF8(texts[name], "?")
			return tx.PutMarks(run.ID, &transcript.Marks{Name: s, Tags: []string{s}, Note: s})
		}); err != nil {
			t.Fatal(err)
		}
	}
	return db, names
}

// hostilePages are those that show many runs at once.
func hostilePages() []string {
	list := []string{"/", "/exchanges", "/tools", "/stats", "/compare?refs=r1+r2+r3", "/compare?refs=r1+r2"}
	for _, s := range []string{payload, "evil", "\u202e", "W W"} {
		list = append(list, "/search?q="+url.QueryEscape(s), "/?q="+url.QueryEscape(s), "/tools?name="+url.QueryEscape(s), "/compare?refs="+url.QueryEscape(s), "/x/1/details?side="+url.QueryEscape(s)+"&at="+url.QueryEscape(s))
	}
	return list
}

// Whatever a page leads to, it holds nothing that came from a text but text.
func TestHostileText_IsMarkupNowhere(t *testing.T) {
	db, names := hostileStore(t)
	h := web.New(options(db))
	waiting := hostilePages()
	for i := range names {
		waiting = append(waiting, fmt.Sprintf("/r/%d", i+1))
	}
	seen := map[string]bool{}
	html := 0
	for ; len(waiting) > 0 && len(seen) < 1200; waiting = waiting[1:] {
		target, _, _ := strings.Cut(waiting[0], "#")
		if seen[target] || strings.HasPrefix(target, "/static/") {
			continue
		}
		seen[target] = true
		w := ask(h, "GET", target)
		kind := w.Header().Get("Content-Type")
		if w.Code >= 500 {
			t.Errorf("%s: status %d", target, w.Code)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s may be taken for what it is not", target)
		}
		if !strings.HasPrefix(kind, "text/html") {
			if !slices.Contains([]string{"text/plain; charset=utf-8", "application/json; charset=utf-8", "application/octet-stream", ""}, kind) && w.Header().Get("Content-Disposition") == "" {
				t.Errorf("%s is %s", target, kind)
			}
			continue
		}
		html++
		if strings.Contains(w.Header().Get("Content-Disposition"), "attachment") {
			continue // an exported page, which has a test of its own
		}
		if !utf8.Valid(w.Body.Bytes()) {
			t.Errorf("%s is not UTF-8", target)
		}
		p := parse(t, w.Body.String())
		for _, shown := range shownOf(p) {
			if strings.ContainsAny(shown, "\u202E\u2066\u200B\x00\x1b") {
				t.Errorf("%.120s: hidden characters are shown in %.100q", target, shown)
			}
		}
		for _, bad := range markup(p) {
			t.Errorf("%.120s: %.200s", target, bad)
		}
		for _, e := range p.all(func(*node) bool { return true }) {
			for _, name := range []string{"href", "data-details", "hx-get"} {
				if to := e.attr(name); strings.HasPrefix(to, "/") && !strings.Contains(to, "fetch=1") {
					waiting = append(waiting, to)
				}
			}
		}
	}
	if html < 200 {
		t.Fatalf("only %d pages were looked at", html)
	}
}

// shownOf returns the texts of a page and of its titles and labels. Fields of forms
// hold a text as it is, and so does what is copied.
func shownOf(p page) []string {
	var list []string
	for n := range p.root.Descendants() {
		if n.Type == xhtml.TextNode && n.Parent.Data != "textarea" {
			list = append(list, n.Data)
		}
		for _, a := range n.Attr {
			if a.Key != "value" && a.Key != "data-copy" {
				list = append(list, a.Val)
			}
		}
	}
	return list
}

func TestBrowser_HostileTextDoesNothingAndBreaksNoPage(t *testing.T) {
	db, names := hostileStore(t)
	o := options(db)
	o.Update = db.Update
	for _, part := range slices.Collect(slices.Chunk(names, 5)) {
		t.Run(strings.Join(part, ", "), func(t *testing.T) {
			b := startBrowser(t, o)
			b.do(chromedp.EmulateViewport(480, 900))
			for _, name := range part {
				n := slices.Index(names, name) + 1
				run, exchange := fmt.Sprintf("/r/%d", n), fmt.Sprintf("/x/%d", 3*n)
				for _, target := range []string{run, run + "/calls", run + "/time", exchange, exchange + "/wire", exchange + "/replay", fmt.Sprintf("/x/%d/details?side=response&at=/content/2", 3*n-2)} {
					fits(b, name, target)
				}
			}
		})
	}
	t.Run("lists", func(t *testing.T) {
		b := startBrowser(t, o)
		b.do(chromedp.EmulateViewport(480, 900))
		for _, target := range hostilePages() {
			fits(b, "lists", target)
		}
	})
}

// fits opens a page with all its folds open: it has to fit the window, and to do
// nothing.
func fits(b *browser, name, target string) {
	b.t.Helper()
	b.open(target)
	eval[bool](b, `document.querySelectorAll("main details, main + * details").forEach(d => d.open = true) ?? true`)
	if wide := eval[float64](b, `document.documentElement.scrollWidth`); wide > 480 {
		b.t.Errorf("%s, %.80s scrolls sideways: %v px, for %s", name, target, wide, eval[string](b, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > 481 && !e.closest(".scroll, .md-table, .panel")).map(e => e.tagName + "." + e.className).slice(0, 8).join(" ")`))
	}
	if n := eval[int](b, `document.querySelectorAll("img, iframe, object, embed, style, base, script:not([src^='/static/'])").length`); n != 0 {
		b.t.Errorf("%s, %.80s: %d elements came from text", name, target, n)
	}
	for _, problem := range b.took() {
		if !strings.Contains(problem, "status of 40") { // what the address asks for is not there
			b.t.Errorf("%s, %.80s: %s", name, target, problem)
		}
	}
}

func TestHostileText_OfTheSampleIsReadable(t *testing.T) {
	db, names := hostileStore(t)
	h := web.New(options(db))
	for i, name := range names {
		if name != "a script" && name != "a template" && name != "an attribute" {
			continue
		}
		text := hostileTexts()[name]
		for _, target := range []string{fmt.Sprintf("/r/%d", i+1), fmt.Sprintf("/x/%d", 3*i+1)} {
			if got := open(t, h, target).text(); strings.Count(got, text) < 4 {
				t.Errorf("%s: %s can be read %d times", target, name, strings.Count(got, text))
			}
		}
		var rows []map[string]any
		w := ask(h, "GET", "/api/runs")
		if err := json.Unmarshal(w.Body.Bytes(), &rows); err != nil || w.Code != http.StatusOK || len(rows) != len(names) {
			t.Errorf("the API gives %d runs, %v", len(rows), err)
		}
	}
}
