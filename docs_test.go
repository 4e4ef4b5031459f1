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
