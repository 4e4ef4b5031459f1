package web_test

import (
	"strings"
	"testing"
)

// markup returns what on a page could have come from a text: an element or an
// attribute that no template has.
func markup(p page) []string {
	var bad []string
	for _, e := range p.all(func(*node) bool { return true }) {
		switch e.root.Data {
		case "img", "iframe", "object", "embed", "style", "base", "b:b":
			bad = append(bad, "element "+e.root.Data)
		case "svg": // the server's own have a class or a label
			if e.attr("class") != "share" && e.attr("class") != "map" {
				bad = append(bad, "element svg")
			}
		case "script":
			if !strings.HasPrefix(e.attr("src"), "/static/") || e.text() != "" {
				bad = append(bad, "script "+e.text())
			}
		}
		for _, a := range e.root.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc" {
				bad = append(bad, "attribute "+a.Key)
			}
			if isLink(a.Key) && (strings.HasPrefix(a.Val, "//") || !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "?")) {
				bad = append(bad, "link to "+a.Val)
			}
		}
	}
	return bad
}

func isLink(name string) bool {
	return name == "href" || name == "src" || name == "action" || name == "hx-get"
}

func TestHostileText_IsShownAndNeverMarkup(t *testing.T) {
	h := sampleViewer(t)
	for target, places := range map[string][]string{
		"/":         {"said", "model"},
		"/x/7":      {"model", "user", "assistant", "name", "args", "result"},
		"/x/7/wire": {"headers", "data"},
	} {
		p := open(t, h, target)
		for _, bad := range markup(p) {
			t.Errorf("%s: %s", target, bad)
		}
		for _, place := range places {
			found := false
			for _, e := range p.class(place) {
				found = found || strings.Contains(e.text(), payload) || strings.Contains(e.attr("title"), payload) ||
					place == "headers" && strings.Contains(e.text(), "<script>alert(3)</script>") ||
					place == "data" && strings.Contains(e.text(), "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)> &lt;b&gt;")
			}
			if !found {
				t.Errorf("%s: the text cannot be read in %s", target, place)
			}
		}
	}
	for _, target := range []string{"/?model=" + `%3Cscript%3E`, "/x/%3Cscript%3Ealert(1)", "/%3Cimg%20src=x%3E"} {
		for _, bad := range markup(parse(t, ask(h, "GET", target).Body.String())) {
			t.Errorf("%s: %s", target, bad)
		}
	}
}

func TestHostileText_CannotReorderAPage(t *testing.T) {
	h := sampleViewer(t)
	for _, target := range []string{"/", "/x/7", "/x/7/wire"} {
		w := ask(h, "GET", target)
		if at := strings.IndexAny(w.Body.String(), "\u202E\u202C\u200B\U000E0041\x1b"); at >= 0 {
			t.Errorf("%s: a hidden character at byte %d", target, at)
		}
	}
	user := open(t, h, "/x/7").one(t, "item", "user")
	wantText(t, user, "safe⟦U+202E⟧gnp.exe⟦U+202C⟧ zero⟦U+200B⟧width tag⟦U+E0041⟧⟦U+E0042⟧ esc⟦ESC⟧[31m")
	if got := len(user.class("mark")); got != 5 {
		t.Errorf("%d marks, want 5", got)
	}
}
