package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/files"
)

// longRow is a line of the table of published transcripts.
var longRow = regexp.MustCompile(`(?m)^\| dev \| (\S+) \| \d+ \| (\d+) \| (\d+) \| (\d+) \|`)

// All published transcripts go in, nothing is added by a second time, and the
// calls that are found are those that their table counts.
func TestImport_LongTranscripts(t *testing.T) {
	const dir = "../../../shared/corpus/long/"
	readme, err := os.ReadFile(dir + "README.md")
	if err != nil {
		t.Skip("the published transcripts are not here:", err)
	}
	rows := longRow.FindAllSubmatch(readme, -1)
	if len(rows) < 20 {
		t.Fatalf("%d rows in the table", len(rows))
	}
	db := filepath.Join(t.TempDir(), "t.db")
	run := func(args ...string) []byte {
		t.Helper()
		var out, errs bytes.Buffer
		a := &app{console: console{in: strings.NewReader(""), out: &out, err: &errs, getenv: func(string) string { return "" }}}
		root := newRoot(a)
		root.SetArgs(append([]string{"--db", db, "--json"}, args...))
		if err := root.ExecuteContext(context.Background()); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, &errs)
		}
		return out.Bytes()
	}
	t.Logf("%-60s %7s %6s | %6s %6s %5s %s", "file", "turns", "calls", "turns", "calls", "runs", "worth")
	var list []string
	var turns, calls []int
	for _, row := range rows {
		file := string(row[1])
		if strings.Contains(file, "/subagents/") {
			continue // they come along with their session, counted below
		}
		list, turns, calls = append(list, dir+"dev/"+file), append(turns, atoi(t, row[3])), append(calls, atoi(t, row[4]))
		if last := len(list) - 1; strings.HasSuffix(file, "fa812bfe-b295-4cca-9c2f-fdf01028cb46.jsonl") {
			turns[last], calls[last] = turns[last]+36+30+1, calls[last]+25+21+0
		}
	}
	for n := range 2 {
		var did []files.Imported
		if err := json.Unmarshal(run(append([]string{"import"}, list...)...), &did); err != nil || len(did) != len(list) {
			t.Fatal(len(did), err)
		}
		for i, d := range did {
			file := strings.TrimPrefix(d.File, dir+"dev/")
			if n > 0 {
				if d.New != 0 {
					t.Errorf("%s: %d exchanges are new the second time", file, d.New)
				}
				continue
			}
			t.Logf("%-60.60s %7d %6d | %6d %6d %5d %v", file, turns[i], calls[i], d.Exchanges, d.Calls, d.Runs, d.Grades)
			if d.New != d.Exchanges || d.Bad > 0 {
				t.Errorf("%s: %+v", file, d)
			}
			if d.Calls != calls[i] && !strings.HasPrefix(file, "gemini") { // of which the table counts none, and the file holds some
				t.Errorf("%s: %d calls, want %d", file, d.Calls, calls[i])
			}
		}
	}
	var pairs []struct{ State string }
	var runs []struct{ N int64 }
	if err := json.Unmarshal(run("ls", "--limit", "0"), &runs); err != nil {
		t.Fatal(err)
	}
	states := map[string]int{}
	for _, r := range runs {
		if err := json.Unmarshal(run("calls", "r"+strconv.FormatInt(r.N, 10)), &pairs); err != nil {
			t.Fatal(err)
		}
		for _, p := range pairs {
			states[p.State]++
		}
	}
	t.Logf("%d runs; calls by state: %v", len(runs), states)
	if states["paired"] < 1581 {
		t.Errorf("calls by state: %v", states)
	}
}

func atoi(t *testing.T, b []byte) int {
	t.Helper()
	n, err := strconv.Atoi(string(b))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
