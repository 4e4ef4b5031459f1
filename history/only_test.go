package history_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// One function above the store reads a stored body: Open. Excerpts reads the same for a
// search.
func TestOpen_NothingElseReadsStoredBodies(t *testing.T) {
	call := regexp.MustCompile(`\.(Body|Excerpt)\([^()]*(ctx|Context\(\))`)
	var found []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "shared" || d.Name() == "store" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if call.MatchString(line) && !strings.Contains(line, "history.Body(") {
				found = append(found, path+": "+line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join("..", "history", "body.go")
	if len(found) != 2 || !strings.HasPrefix(found[0], own) || !strings.HasPrefix(found[1], own) {
		t.Errorf("these read a stored body, want Open and Excerpts alone:\n%s", strings.Join(found, ""))
	}
}
