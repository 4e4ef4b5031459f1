package retake_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// caseID is how tests name a case.
var caseID = regexp.MustCompile(`\bD-[A-Z]{2,4}-\d{2}\b`)

func TestDocs_ExplainEachCaseThatTestsName(t *testing.T) {
	cases, err := os.ReadFile("docs/cases.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for path, text := range sources(t, "_test.go", ".txtar") {
		for _, id := range caseID.FindAllString(path+"\n"+text, -1) {
			named[id] = path
		}
	}
	if len(named) < 30 {
		t.Fatalf("only %d cases found in tests", len(named))
	}
	for id, path := range named {
		if !strings.Contains(string(cases), "| "+id+" | ") {
			t.Errorf("%s names %s, which docs/cases.md does not explain", path, id)
		}
	}
}

// The documents name files, folders and packages by their path: each must be there.
func TestDocs_NameOnlyWhatIsThere(t *testing.T) {
	documents, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	path := regexp.MustCompile("`((?:[a-z0-9_]+/)+(?:[a-z0-9_]+\\.(?:go|md|tsv))?)`")
	found := 0
	for _, doc := range append(documents, "ARCHITECTURE.md", "CONTRIBUTING.md", "README.md") {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range path.FindAllStringSubmatch(string(text), -1) {
			found++
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s names %s: %v", doc, m[1], err)
			}
		}
	}
	if found < 40 {
		t.Fatalf("only %d paths found", found)
	}
}

// sources returns the text of all files whose names have one of the endings, by path.
func sources(t *testing.T, endings ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		for _, end := range endings {
			if strings.HasSuffix(path, end) {
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				texts[path] = string(text)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
