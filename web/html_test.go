package web_test

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

type node = html.Node

// page is a parsed page, to be asked what it says.
type page struct{ root *html.Node }

func open(t testing.TB, h http.Handler, target string) page {
	t.Helper()
	w := ask(h, "GET", target)
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s: status %d: %s", target, w.Code, w.Body)
	}
	if got := w.Header().Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Fatalf("GET %s: content type %q", target, got)
	}
	return parse(t, w.Body.String())
}

func parse(t testing.TB, text string) page {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return page{root}
}

// all returns the elements that fit, in document order.
func (p page) all(fits func(*html.Node) bool) []page {
	var out []page
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && fits(n) {
			out = append(out, page{n})
		}
	}
	return out
}

func (p page) class(names ...string) []page {
	return p.all(func(n *html.Node) bool {
		have := strings.Fields(attr(n, "class"))
		for _, name := range names {
			found := false
			for _, h := range have {
				found = found || h == name
			}
			if !found {
				return false
			}
		}
		return true
	})
}

func (p page) id(id string) page {
	for _, q := range p.all(func(n *node) bool { return attr(n, "id") == id }) {
		return q
	}
	return page{&html.Node{}}
}

// one returns the only element of these classes.
func (p page) one(t testing.TB, names ...string) page {
	t.Helper()
	got := p.class(names...)
	if len(got) != 1 {
		t.Fatalf("%d elements of class %v, want 1 in: %s", len(got), names, p.text())
	}
	return got[0]
}

// text is what a reader sees, white space as it is.
func (p page) text() string {
	var b strings.Builder
	for n := range p.root.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

func (p page) attr(name string) string { return attr(p.root, name) }

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func wantText(t testing.TB, p page, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if text := p.text(); !strings.Contains(text, want) {
			t.Errorf("want %q in: %s", want, text)
		}
	}
}

// wantIn returns what of these cannot be read in a text.
func wantIn(t testing.TB, where, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%s: want %q in: %.1000s", where, want, text)
		}
	}
}
