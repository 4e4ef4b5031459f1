package dialect_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// An API is named in its folder alone. The exceptions say why.
func TestHouse_NoOtherPackageNamesAnAPI(t *testing.T) {
	exceptions := map[string]string{
		"transcript/exchange.go": "declares the names",
		"store/storetest/":       "the suite of an engine, which may not know dialect: any names would do",
		"lint/code.go":           "its examples are requests",
		"formats/":               "files whose form is that of one API, which they read or write",
		"examples/":              "a model and an agent of their own",
		"bench/":                 "writes requests",
		"web/show_colour.go":     "contents is an argument of tools that write files",
	}
	named := regexp.MustCompile(`\btranscript\.(Chat|Responses|Messages)\b|"/?(messages|contents)/?"|\[\]string\{"chat", "(responses|messages)"`)
	files := 0
	root := ".."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path, _ = filepath.Rel(root, path)
		path = filepath.ToSlash(path)
		if d.IsDir() {
			if path == "dialect" || strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		for prefix := range exceptions {
			if strings.HasPrefix(path, prefix) {
				return nil
			}
		}
		files++
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		for n, line := range strings.Split(string(text), "\n") {
			if strings.Contains(line, "json:\"") {
				continue
			}
			if found := named.FindString(line); found != "" {
				t.Errorf("%s:%d: %s: ask the API's descriptor", path, n+1, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 300 {
		t.Errorf("only %d files were read", files)
	}
}
