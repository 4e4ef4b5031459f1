package safehtml

import (
	"strings"
	"testing"
	"time"
)

// spans writes what is shown with [class text] for each span.
func spans(shown string) string {
	for _, c := range []string{"cc", "cs", "cn", "ck", "cg"} {
		shown = strings.ReplaceAll(shown, `<span class="`+c+`">`, "["+c+" ")
	}
	shown = strings.ReplaceAll(shown, "</span>", "]")
	return strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(shown)
}

func TestCode_TellsApart(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"go", `if x := "a\"b"; x != 'c' { return 0x1f + 1.5 } // end`, `[ck if] x := [cs "a\"b"]; x != [cs 'c'] { [ck return] [cn 0x1f] + [cn 1.5] } [cc // end]`},
		{"go", "a := `one\ntwo` /* x\ny */ z.if", "a := [cs `one\ntwo`] [cc /* x\ny */] z.if"},
		{"go", "see https://x.example/a // b", "see https://x.example/a [cc // b]"},
		{"go", "a := 1 /* never ends", "a := [cn 1] /* never ends"},
		{"go", " * of it\n */\nfunc f", "[cc  * of it\n */]\n[ck func] f"},
		{"python", "def f(x): # it's\n  return f'{x}' + r\"\\d\" \"\"\"a\nb\"\"\"", "[ck def] f(x): [cc # it's]\n  [ck return] f[cs '{x}'] + r[cs \"\\d\"] [cs \"\"\"a\nb\"\"\"]"},
		{"python", "rest of a text\"\"\"\nx = 1\n\"\"\"one\"\"\"", "rest of a text\"\"\"\nx = [cn 1]\n[cs \"\"\"one\"\"\"]"},
		{"py", "don't and can't", "don't [ck and] can't"},
		{"bash", "echo \"a # b\" ${#x} # c\nif [ -f 'x' ]; then fi", "echo [cs \"a # b\"] ${#x} [cc # c]\n[ck if] [ -f [cs 'x'] ]; [ck then] [ck fi]"},
		{"bash", `echo it\'s "never closed`, `echo it\'s "never closed`},
		{"c", "#include <x.h>\nchar *s = \"a\";", "[ck #include] <x.h>\n[ck char] *s = [cs \"a\"];"},
		{"rust", "fn f<'a>(x: &'a str) {}", "[ck fn] f<'a>(x: &'a str) {}"},
		{"sql", "Select a from t where b = 'it' -- c", "[ck Select] a [ck from] t [ck where] b = [cs 'it'] [cc -- c]"},
		{"html", `<!-- c --><a href="x">it's <b>`, `[cc <!-- c -->]<[ck a] href=[cs "x"]>it's <[ck b]>`},
		{"json", `{"a": [1, true]}`, `{[cs "a"]: [[cn 1], [ck true]]}`},
		{"css", "@media x { a { color: red !important; } }", "[ck @media] x { a { color: red [ck !important]; } }"},
		{"go", "     1\tpackage a\n     2\t\n     3\t/* x\n     4\ty */", "[cg      1\t][ck package] a\n[cg      2\t]\n[cg      3\t][cc /* x\n][cg      4\t][cc y */]"},
		{"go", "  9→func a\n 10→return", "[cg   9→][ck func] a\n[cg  10→][ck return]"},
		{"js", "</script><script>alert(1)</script>", "</script><script>alert([cn 1])</script>"},
	} {
		f := Named(c.name)
		if f == Text {
			t.Errorf("%s is not known", c.name)
			continue
		}
		shown := string(Show(f, c.in, true))
		if got := spans(shown); got != c.want {
			t.Errorf("%s %q:\n got %s\nwant %s", c.name, c.in, got, c.want)
		}
		if got := seen(t, shown); got != c.in {
			t.Errorf("%s %q is shown as %q", c.name, c.in, got)
		}
	}
}

func TestCode_IsKnownByNameFileAndBeginning(t *testing.T) {
	for name, want := range map[string]string{
		"main.go": "go", "/a/b.PY": "python", `C:\x\y.rs`: "rust", "Makefile": "make", "src/Dockerfile.dev": "docker", "a.test.tsx": "ts", "noend": "", "dir/": "", "a.": "", "": "", ".go": "go", "x.unknown": "", ".env": "ini",
	} {
		if got := OfFile(name); got != Named(want) {
			t.Errorf("%q is %v", name, got)
		}
	}
	for text, want := range map[string]string{
		"#!/bin/bash\nx": "sh", "#!/usr/bin/env python3\n": "python", "#!/usr/bin/env -S node --x": "js", "<?php echo": "php", "<!DOCTYPE html><p>": "html", "#! what": "", "# heading": "", "": "",
	} {
		if got := OfBeginning(text); got != Named(want) {
			t.Errorf("%q is %v", text, got)
		}
	}
	for info, want := range map[string]string{"go": "go", "{.python}": "python", "ts:src/a.ts": "ts", "js title=x": "js", "text": "", "": ""} {
		if got := formOfBlock(info, "x"); got != Named(want) {
			t.Errorf("%q is %v", info, got)
		}
	}
	if formOfBlock("diff", "-a\n+b") != Patch || FormOf("*** Begin Patch\n") != Patch {
		t.Error("a patch is not known")
	}
}

func TestLanguages_NamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range languages {
		for _, name := range strings.Fields(l.names) {
			if seen[name] {
				t.Errorf("%s is named twice", name)
			}
			seen[name] = true
		}
	}
}

// What takes more than a few times as long as its length allows would take minutes.
func TestCode_TakesNoEndlessTimeForAnything(t *testing.T) {
	const n = 200 << 10
	for name, s := range map[string]string{
		"quotes": strings.Repeat(`"`, n), "escaped quotes": strings.Repeat(`\"`, n/2), "odd quotes": strings.Repeat(`"'`, n/2) + `"`, "open comments": strings.Repeat("/*", n/2), "long quotes": strings.Repeat(`"""`, n/3),
		"numbers": strings.Repeat("1 ", n/2), "words": strings.Repeat("if ", n/3), "one word": strings.Repeat("a", n), "tags": strings.Repeat("<a ", n/3), "numbered": strings.Repeat("1\tx\n", n/4), "backticks": strings.Repeat("`\n", n/2),
		"apostrophes": strings.Repeat("aaaaaaaaaaa'", n/12), "spaces": strings.Repeat(" ", n), "ends of comments": strings.Repeat("*/", n/2), "sigils": strings.Repeat("#a-", n/3), "quote and words": `"` + strings.Repeat(`\`, n) + `'a'`,
	} {
		for i := range languages {
			began := time.Now()
			shown := Show(code+Form(i), s, true)
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%s as %s: %v", name, languages[i].names, took)
			}
			if len(shown) > 8*len(s)+60*mostTokens {
				t.Errorf("%s as %s: of %d bytes %d are made", name, languages[i].names, len(s), len(shown))
			}
		}
	}
}

func FuzzCode(f *testing.F) {
	for _, s := range append(seeds, "func f() { /* a */ return \"b\" } // c", "     1\tx = '''\n     2\ty'''", "`a${b}`", "'a''b'", `"\`) {
		for i := range languages {
			f.Add(i, s)
		}
	}
	f.Fuzz(func(t *testing.T, i int, s string) {
		if i < 0 || i >= len(languages) || len(s) > 1<<14 || strings.Contains(s, "\r") {
			return
		}
		got, want := seen(t, string(Show(code+Form(i), s, true))), Plain(s)
		if got != want && !strings.Contains(want, "⟦") { // one mark stands for what several tokens hold
			t.Fatalf("%q is shown as %q", want, got)
		}
	})
}
