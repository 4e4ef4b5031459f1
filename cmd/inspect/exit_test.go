package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/retake-debugger/retake/store"
)

// invoke runs the program as main does.
func invoke(t *testing.T, env map[string]string, args ...string) (status int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := console{in: strings.NewReader(""), out: &stdout, err: &stderr, getenv: func(name string) string { return env[name] }}
	status = run(t.Context(), args, c)
	return status, stdout.String(), stderr.String()
}

// seeded fills a database with the exchanges of a script's archive.
func seeded(t *testing.T, script string) (db string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db = filepath.Join(dir, "t.db")
	if err := seed(db, filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	return db
}

// exitCases are what each command is held to: lists that nothing fits are fine,
// references that mean nothing are not found, the rest is wrong usage.
var exitCases = []struct {
	status int
	args   string
}{
	{0, "ls"}, {0, "ls --model zzz"}, {0, "ls -x --outcome http_error --model zzz"}, {0, "ls --tag zzz"}, {0, "ls --tool zzz"},
	{2, "ls --sort x"}, {2, "ls --dialect zzz"}, {2, "ls --outcome zzz"}, {2, "ls --since zzz"}, {2, "ls --limit -1"}, {2, "ls --limit x"}, {2, "ls r1"},
	{0, "show"}, {3, "show r9"}, {3, "show r1.99"}, {3, "show x99"}, {3, "show call_zz"}, {2, "show r1 r2"}, {2, "show no/such"}, {2, "show r1.x"},
	{0, "tree r1"}, {3, "tree r9"}, {2, "tree --zzz"},
	{0, "calls"}, {0, "calls r1 --tool zzz"}, {0, "calls --id zzz"}, {0, "calls r1 --errors --tool grep"}, {2, "calls --sort zzz"}, {2, "calls --csv --json"}, {3, "calls r9"}, {3, "calls t9"},
	{0, "lint"}, {2, "lint --ignore zzz"}, {2, "lint --dialect zzz --file FILE"}, {3, "lint r9"}, {3, "lint --file /no/such/file"}, {0, "lint --list"},
	{1, "diff r1.1 r1.2"}, {0, "diff r1.1 r1.1"}, {2, "diff r1"}, {2, "diff"}, {3, "diff r1 r9"}, {3, "diff r9 r1"}, {3, "diff --requests x1"},
	{0, "compare r1 r1"}, {1, "compare r1.1 r1.2"}, {2, "compare r1"}, {3, "compare r1 r9"},
	{0, "timing"}, {3, "timing r9"}, {2, "timing r1 r1"},
	{0, "context"}, {3, "context r9"}, {2, "context r1 r1"},
	{1, "cache"}, {3, "cache r9"}, {2, "cache r1 r1"},
	{0, "stats"}, {0, "stats --model zzz"}, {2, "stats --by zzz"}, {3, "stats r9"}, {3, "--prices /no/such/file stats"}, {2, "stats --storage r1"},
	{0, "search zzzzzz"}, {0, "search parser"}, {2, "search parser --sort zzz"}, {2, "search"}, {2, "search is:zzz"},
	{2, "tail -n x"},
	{0, "doctor"}, {2, "doctor r1"}, {0, "verify"}, {2, "verify r1"}, {2, "reindex r1"},
	{2, "prune"}, {2, "prune --older-than zzz"}, {2, "prune --max-size zzz"},
	{2, "tag r1"}, {3, "tag r9 a"}, {2, "tag r1 a,b"}, {0, "untag r1 zzz"}, {3, "name r9 a"}, {2, "name r1"}, {3, "note r9 a"}, {3, "pin r9"}, {3, "unpin r9"}, {3, "link x9 x1"}, {3, "unlink x9"},
	{2, "import"}, {2, "import --format zzz FILE"}, {3, "import /no/such/file"}, {1, "import FILE"}, {2, "unredact FILE"}, {3, "unredact FILE --vault /no/such/file"}, {2, "export --format zzz"}, {3, "export x99"}, {3, "replay x99 --once"}, {2, "replay"},
	{2, "replay x1 --resume t1"}, {3, "replay --resume t9"}, {2, "replay --resume x1"}, {2, "replay x1 --max-cost zzz"}, {2, "replay x1 --tool-exec zzz"}, {2, "replay x1 --sources zzz"}, {2, "minimise"}, {2, "minimise r1"}, {3, "minimise x99"}, {2, "minimise x1 --samples 0"}, {2, "minimise x1 --expect-text ("}, {2, "minimise x1 --max-cost zzz"}, {0, "takes"}, {0, "takes r1"}, {3, "takes r9"}, {2, "takes r1 r1"},
	{2, "web --listen zzz"}, {2, "web --listen 127.0.0.1:99999"}, {2, "web --listen 192.0.2.1:80"},
	{0, ""}, {0, "help"}, {0, "help ls"}, {2, "help zzz"}, {2, "help ls zzz"}, {2, "zzz"}, {2, "--zzz"}, {2, "lss"}, {0, "--version"},
	{3, "--db /no/such/file ls"},
}

func TestExitStatus_IsOneRuleForAllCommands(t *testing.T) {
	db := seeded(t, "run.txtar")
	file := filepath.Join(t.TempDir(), "request.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, c := range exitCases {
		args := strings.Fields(strings.ReplaceAll(c.args, "FILE", file))
		if len(args) > 0 {
			told[args[0]] = true
		}
		status, _, errs := invoke(t, map[string]string{"RETAKE_DB": db, "HOME": t.TempDir()}, args...)
		if status != c.status {
			t.Errorf("inspect %s: exit status %d, want %d; %s", c.args, status, c.status, errs)
		}
		if status > 1 && (!strings.HasPrefix(errs, "inspect: ") || strings.Count(errs, "\n") != 1) {
			t.Errorf("inspect %s says %q", c.args, errs)
		}
		for _, leak := range []string{"strconv", "arg(s)", "listen tcp", "sql", "0x", "failed to", "invalid argument", "no such file"} {
			if strings.Contains(errs, leak) {
				t.Errorf("inspect %s: %q is for programmers: %s", c.args, leak, errs)
			}
		}
	}
	for _, c := range newRoot(&app{}).Commands() {
		if c.IsAvailableCommand() && c.Name() != "completion" && !told[c.Name()] {
			t.Errorf("no case for inspect %s", c.Name())
		}
	}
}

// A database that nothing was recorded into is empty everywhere, in words and as
// JSON.
func TestExitStatus_OfAnEmptyDatabase(t *testing.T) {
	db := filepath.Join(t.TempDir(), "t.db")
	if _, _, errs := invoke(t, map[string]string{"RETAKE_DB": db}, "ls"); !strings.Contains(errs, "record something first") {
		t.Errorf("without a database: %q", errs)
	}
	empty(t, db)
	for _, c := range []struct {
		status int
		args   string
	}{{0, "ls"}, {0, "ls -x"}, {0, "stats"}, {0, "search zzz"}, {0, "verify"}, {3, "show"}, {3, "calls"}, {3, "tree"}, {3, "timing"}, {3, "lint"}, {0, "calls --id zzz"}, {0, "export"}} {
		status, _, errs := invoke(t, map[string]string{"RETAKE_DB": db}, strings.Fields(c.args)...)
		if status != c.status {
			t.Errorf("inspect %s: exit status %d, want %d; %s", c.args, status, c.status, errs)
		}
	}
}

func empty(t *testing.T, path string) {
	t.Helper()
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// What programs read is one JSON document, without colours, also of nothing.
func TestJSON_IsOneDocument(t *testing.T) { // D-CLI-01
	filled, none := seeded(t, "run.txtar"), filepath.Join(t.TempDir(), "t.db")
	empty(t, none)
	for db, commands := range map[string][]string{
		filled: {"ls", "ls -x", "show", "show x1", "tree", "calls", "lint", "timing", "context", "cache", "stats", "diff r1.1 r1.2", "compare r1 r1", "search parser", "doctor", "verify"},
		none:   {"ls", "ls -x", "stats", "search parser", "doctor", "verify", "calls --id zzz"},
	} {
		for _, c := range commands {
			_, out, errs := invoke(t, map[string]string{"RETAKE_DB": db}, append(strings.Fields(c), "--json")...)
			if !json.Valid([]byte(out)) || strings.Contains(out, "\x1b") {
				t.Errorf("inspect %s --json prints %.200q; %s", c, out, errs)
			}
		}
	}
}
