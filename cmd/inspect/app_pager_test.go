package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/view"
)

func TestPager_ShowsWhatIsWritten(t *testing.T) {
	for say, want := range map[string]string{"sed s/^/page:/": "page:one\npage:two\n", "exit 0": ""} {
		screen, err := os.Create(filepath.Join(t.TempDir(), "screen"))
		if err != nil {
			t.Fatal(err)
		}
		p := &pager{screen: screen, say: say, env: os.Environ()}
		for _, line := range []string{"one\n", "two\n"} {
			if _, err := p.Write([]byte(line)); err != nil && !left(err) {
				t.Errorf("%s: %v", say, err)
			}
		}
		p.close()
		got, err := os.ReadFile(screen.Name())
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", say, got, err, want)
		}
		screen.Close()
	}
}

func TestPager_IsNotStartedForNothing(t *testing.T) {
	p := &pager{say: "touch " + filepath.Join(t.TempDir(), "started")}
	p.close()
	if p.cmd != nil {
		t.Error("it was started")
	}
}

func TestComplete_OffersWhatIsRecorded(t *testing.T) {
	db := seeded(t, "run.txtar")
	env := map[string]string{"RETAKE_DB": db}
	invoke(t, env, "tag", "r1", "good", "regression")
	for line, want := range map[string]string{
		"show ":           "last r1",
		"show r":          "r1",
		"show r1.":        "r1.1 r1.2 r1.3",
		"diff r1 x":       "x:last x7 x6 x5 x4 x3 x2 x1",
		"calls x7":        "x7",
		"show t":          "",
		"tag r":           "r1",
		"ls --tag ":       "good regression",
		"ls --model cl":   "claude-x-1",
		"ls --outcome st": strings.Join(outcomes, " "),
		"calls --sort l":  strings.Join(view.CallOrders, " "),
		"help ca":         "cache calls",
		"completion z":    "zsh",
	} {
		args := append([]string{"__complete"}, strings.Split(line, " ")...)
		_, out, _ := invoke(t, env, args...)
		var got []string
		for row := range strings.Lines(out) {
			if word, _, _ := strings.Cut(strings.TrimSpace(row), "\t"); word != "" && !strings.HasPrefix(word, ":") {
				got = append(got, word)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("inspect %s: %q, want %q", line, got, want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if status, out, _ := invoke(t, env, "completion", shell); status != 0 || len(out) < 1000 {
			t.Errorf("completion for %s: status %d, %d bytes", shell, status, len(out))
		}
	}
	if status, _, errs := invoke(t, env, "completion", "zhs"); status != exitUsage || !strings.Contains(errs, "did you mean zsh") {
		t.Errorf("completion zhs: %d, %s", status, errs)
	}
	if status, _, _ := invoke(t, map[string]string{"RETAKE_DB": "/no/such/file"}, "__complete", "show", ""); status != 0 {
		t.Errorf("without a database: status %d", status)
	}
}
