package safehtml

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/retake-debugger/retake/analysis"
)

func TestShow(t *testing.T) {
	for _, c := range []struct {
		form     Form
		in, want string
	}{
		{Text, "<b>&amp; \u202e", `&lt;b&gt;&amp;amp; <span class="mark">⟦U+202E⟧</span>`},
		{JSON, "{\n  \"a\": 1.10,\n  \"b\": [\n    true,\n    \"x: <i>\"\n  ]\n}",
			`{` + "\n" + `  <span class="jk">&#34;a&#34;</span>: <span class="jn">1.10</span>,` + "\n" + `  <span class="jk">&#34;b&#34;</span>: [` + "\n" +
				`    <span class="jl">true</span>,` + "\n" + `    <span class="js">&#34;x: &lt;i&gt;&#34;</span>` + "\n" + "  ]\n}"},
		{JSON, `  "n": 2512292042121000001`, `  <span class="jk">&#34;n&#34;</span>: <span class="jn">2512292042121000001</span>`},
		{JSON, `"a\nb\nc"`, `<span class="js lines">&#34;a` + "\nb\nc" + `&#34;</span>`},
		{JSON, `"cut off`, `&#34;cut off`},
		{Terminal, "\x1b[1;31mred\x1b[0m plain\x1b[2Kx", `<span class="t1 tb">red</span> plain<span class="mark">⟦ESC[2K⟧</span>x`},
		{Terminal, "\x1b[38;5;196mr\x1b[38;2;0;200;0mg\x1b[mend", `<span class="t1">r</span><span class="t2">g</span>end`},
		{Terminal, "\x1b]0;title\x07", `<span class="mark">⟦ESC⟧</span>]0;title<span class="mark">⟦U+0007⟧</span>`},
		{Diff, "--- a\n+++ b\n@@ -1 +1 @@\n-<x>\n+y\n z", `<span class="dh">--- a</span>` + "\n" + `<span class="dh">+++ b</span>` + "\n" + `<span class="dh">@@ -1 +1 @@</span>` + "\n" +
			`<span class="dd">-&lt;x&gt;</span>` + "\n" + `<span class="da">+y</span>` + "\n z"},
		{Markdown, "# T\n\na **b** `c<d>`\ne", `<p class="h h1">T</p><p>a <strong>b</strong> <code>c&lt;d&gt;</code><br>e</p>`},
		{Markdown, "- a\n- b", `<ul><li>a</li><li>b</li></ul>`},
		{Markdown, "3. a\n4. b", `<ol><li><span class="no">3.</span>a</li><li><span class="no">4.</span>b</li></ol>`},
		{Markdown, "[x](javascript:alert(1)) ![p](https://e.x/p.png)", `<p>x <span class="to">(javascript:alert(1))</span> picture: p <span class="to">(https://e.x/p.png)</span></p>`},
		{Markdown, "<https://a.b>", `<p>&lt;https://a.b&gt;</p>`},
		{Markdown, "<script>alert(1)</script>", `<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>`},
		{Markdown, "<!-- a\nb -->\n\n&lt;b&gt;", `<p>&lt;!-- a<br>b --&gt;</p><p>&amp;lt;b&amp;gt;</p>`},
		{Markdown, "[a]: https://e.x\n[a]", `<p>[a]: https://e.x<br>[a]</p>`},
		{Markdown, "|a|b|\n|-|-|\n|1|2|", `<div class="md-table" tabindex="0"><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></div>`},
		{Markdown, "```go\nif a < b {\n```", `<div class="code-block"><span class="lang">go</span><pre><span class="ck">if</span> a &lt; b {</pre></div>`},
	} {
		if got := string(Show(c.form, c.in, true)); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestShow_LongObjectsCanBeClosed(t *testing.T) {
	items := func(n int) string { return strings.TrimSuffix(strings.Repeat("    1,\n", n), ",\n") }
	in := "{\n  \"few\": [\n" + items(3) + "\n  ],\n  \"some\": [\n" + items(20) + "\n  ],\n  \"many\": [\n" + items(60) + "\n  ]\n}"
	got := string(Show(JSON, in, true))
	if strings.Count(got, "<details>") != 1 || strings.Count(got, "<details open>") != 1 || strings.Count(got, "</details>") != 2 || !strings.Contains(got, "60 lines") {
		t.Error(got)
	}
	if got := string(Show(JSON, in[:len(in)-40], true)); strings.Count(got, "<details") != strings.Count(got, "</details>") {
		t.Error("what is cut off leaves folds open: " + got)
	}
	if got := string(Show(JSON, in, false)); strings.Contains(got, "details") {
		t.Error(got)
	}
}

func TestForms(t *testing.T) {
	for in, want := range map[string]Form{"just words": Text, "a - b": Text, "2 * 3": Text, "# Title": Markdown, "see `x`": Markdown, "- one": Markdown, "1. one": Markdown, "**so**": Markdown} {
		if got := Words(in); got != want {
			t.Errorf("%q is taken for %v", in, got)
		}
	}
	for in, want := range map[string]Form{"plain": Text, "\x1b[31mred": Terminal, "x\n@@ -1,2 +1 @@\n": Diff, "@@ not a hunk": Text} {
		if got := FormOf(in); got != want {
			t.Errorf("%q is taken for %v", in, got)
		}
	}
}

func TestSpans(t *testing.T) {
	got := string(Spans(analysis.DiffWords("a <b> c\n", "a <d> c\n")))
	if !strings.Contains(got, "<del>b</del><ins>d</ins>") {
		t.Error(got)
	}
}

// allowed are the elements and attributes that ever come out.
var allowed = map[string]string{
	"span": "class", "p": "class", "div": "class tabindex", "details": "open", "summary": "", "ul": "", "ol": "", "li": "", "blockquote": "", "hr": "", "br": "",
	"table": "", "tr": "", "th": "", "td": "", "pre": "", "code": "", "strong": "", "em": "", "s": "", "del": "", "ins": "", "tbody": "", "html": "", "head": "", "body": "",
}

// seen parses what is shown: it fails on anything that is not allowed and gives
// the text.
func seen(t *testing.T, shown string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader("<body>" + shown))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n := range root.Descendants() {
		switch n.Type {
		case html.TextNode:
			b.WriteString(n.Data)
		case html.CommentNode:
			t.Fatalf("a comment in %s", shown)
		case html.ElementNode:
			attributes, ok := allowed[n.Data]
			if !ok {
				t.Fatalf("element %s in %s", n.Data, shown)
			}
			for _, a := range n.Attr {
				if !strings.Contains(attributes, a.Key) {
					t.Fatalf("attribute %s of %s in %s", a.Key, n.Data, shown)
				}
			}
		}
	}
	return b.String()
}

var seeds = []string{
	"", "plain", "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)> &lt;b&gt;", "\x1b[31mred\x1b[0m \x1b[38;5;1", "\x1b[38;2;1;2;3;4;5;7;9m", "@@ -1 +1 @@\n-a\n+b",
	"# a\n\n- b\n  - c\n\n> d\n\n```x\ny\n```\n\n|a|\n|-|\n|b|", "[a](javascript:x \"t\") ![b](data:text/html,x) <http://c> <d@e.f>", "{\n  \"a\": {\n    \"b\": \"\\u001b[31m\\n\\n\\n<x>\"\n  }\n}",
	strings.Repeat(">", 300) + " deep", strings.Repeat("- ", 200) + "x", strings.Repeat("[", 200) + strings.Repeat("](x)", 200), "\xff\xfe\x00", "a\u202eb\u2066", "<div onclick=\"x\">\n*a*\n</div>", "a  \nb\\\nc \\* \\<", "{{.}} {{template \"x\"}} ${x}",
	strings.Repeat("[\n", 100), strings.Repeat("*a **b ", 100), "| a |\n|---|\n| <script> |",
}

func FuzzShow(f *testing.F) {
	for _, s := range seeds {
		for form := range code {
			f.Add(int(form), s)
		}
	}
	f.Fuzz(func(t *testing.T, form int, s string) {
		if form < 0 || form >= int(code) || len(s) > 1<<14 {
			return
		}
		began := time.Now()
		for _, folds := range []bool{false, true} {
			text := seen(t, string(Show(Form(form), s, folds)))
			for _, c := range text {
				if c == 0x202e || c < 0x20 && c != '\n' && c != '\t' && c != '\r' {
					t.Fatalf("%U is shown bare", c)
				}
			}
			if want := Plain(strings.ReplaceAll(s, "\r", "")); (Form(form) == Text || Form(form) == Diff || Form(form) == Patch) && strings.ReplaceAll(text, "\r", "") != want && !strings.Contains(s, "\r") {
				t.Fatalf("%q is shown as %q", want, text)
			}
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Fatalf("it took %v", took)
		}
	})
}

// Nothing that a reader could miss gets lost in Markdown: each word is still there.
func TestMarkdown_KeepsEveryWord(t *testing.T) {
	var b strings.Builder
	n := 0
	word := func() string { n++; return fmt.Sprintf("w%dw", n) }
	fmt.Fprintf(&b, "# %s\n\n%s **%s** _%s_ `%s` ~~%s~~\n\n- %s\n  1. %s\n\n> %s\n\n```%s\n%s\n```\n\n    %s\n\n| %s | %s |\n|---|---|\n| %s | %s |\n\n[%s](%s \"%s\") ![%s](%s) <http://%s>\n\n[%s]: %s\n\n<%s x=\"%s\">%s</%s>\n\n<!-- %s -->\n\n%s\n===\n\n* * *\n[^%s]\n\n[^%s]: %s\n",
		word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word(), word())
	text := seen(t, string(Show(Markdown, b.String(), true)))
	for i := 1; i <= n; i++ {
		if !strings.Contains(text, fmt.Sprintf("w%dw", i)) {
			t.Errorf("w%dw is lost in %s", i, text)
		}
	}
}

// What takes more than a few times as long as its length allows would take minutes.
func TestMarkdown_TakesNoEndlessTimeForAnything(t *testing.T) {
	for name, s := range map[string]string{
		"quotes": strings.Repeat(">", 60_000), "lists": strings.Repeat("- ", 30_000), "brackets": strings.Repeat("[", 60_000), "links": strings.Repeat("[a](", 15_000), "stars": strings.Repeat("*a ", 20_000),
		"ticks": strings.Repeat("`", 1) + strings.Repeat("a`` ", 15_000), "html": strings.Repeat("<a ", 20_000), "cells": "|a|\n|-|\n" + strings.Repeat("|", 60_000), "lines": strings.Repeat("a\n", 30_000), "brackets and pictures": strings.Repeat("![[]()", 10_000), "numbers": strings.Repeat("1. ", 20_000),
		"wide table":                strings.Repeat("|a", 6000) + "\n" + strings.Repeat("|-", 6000) + "\n" + strings.Repeat("b\n", 15_000),
		"wide table in a quotation": strings.Repeat("> a\n", 10) + "> " + strings.Repeat("|a", 6000) + "\n> " + strings.Repeat("|-", 6000) + "\n" + strings.Repeat("> b\n", 8000),
		"stars and lines":           strings.Repeat("*a_ ", 15_000), "closing brackets": strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000), "attributes": strings.Repeat("<a b=\"\n", 8000),
	} {
		began := time.Now()
		shown := Show(Markdown, s, true)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: %v", name, took)
		}
		if len(shown) > 40*len(s) {
			t.Errorf("%s: of %d bytes %d are made", name, len(s), len(shown))
		}
	}
}
