package store_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// helperEnv makes the test binary do a job instead of running tests.
const helperEnv = "RETAKE_STORE_TEST_JOB"

func TestMain(m *testing.M) {
	if job := os.Getenv(helperEnv); job != "" {
		name, path, _ := strings.Cut(job, " ")
		if err := jobs[name](path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

var jobs = map[string]func(path string) error{
	"write":   func(path string) error { return write(path, 0, 1<<30) },
	"write50": func(path string) error { return write(path, 10_000, 50) },
	"wait":    waitForStdin,
	"prune":   pruneAll,
	"move":    writeAndMove,
}

// job starts this test binary on another task.
func job(tb testing.TB, name, path string) *exec.Cmd {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), helperEnv+"="+name+" "+path)
	cmd.Stderr = os.Stderr
	return cmd
}

// write stores steps of a conversation, several in a transaction, and says
// after each transaction how many exchanges there are.
func write(path string, first, count int) error {
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	ctx := newConversation(uint64(first+os.Getpid()), 5000)
	for n := first + 1; n <= first+count; {
		err := db.Update(background, func(tx transcript.Tx) error {
			for range 3 {
				e, request, response := example(n*1000+os.Getpid()%1000), ctx.next(3000), [][]byte{element(ctx.r, 70_000*(n%2))}
				e.Request.SHA256, e.Response.SHA256 = hash(request), hash(response)
				if err := putStep(tx, e, request, response); err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Println(n - 1 - first)
	}
	return nil
}

// waitForStdin holds the database open until it is told to stop.
func waitForStdin(path string) error {
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	fmt.Println("open")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return db.Close()
}

// What was reported as written outlives kill -9, and the file is whole.
func TestUpdate_SurvivesKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "retake.db")
	stored := int64(0)
	for round := range 8 {
		cmd := job(t, "write", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var told int64
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			told, err = strconv.ParseInt(lines.Text(), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if told >= int64(3*(1+round*3)) {
				break
			}
		}
		// Somewhere in the next transactions.
		time.AfterFunc(time.Duration(round)*700*time.Microsecond, func() { _ = cmd.Process.Kill() })
		for lines.Scan() {
			told, _ = strconv.ParseInt(lines.Text(), 10, 64)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the writer was not killed")
		}
		stored = isWhole(t, path, stored+told)
	}
}

// isWhole verifies a database and returns the number of its exchanges, which must
// be at least want and no more than what one transaction adds.
func isWhole(t *testing.T, path string, want int64) int64 {
	t.Helper()
	db, err := store.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	problems, err := db.Verify(t.Context(), nil)
	if err != nil || len(problems) > 0 {
		t.Fatalf("verify: %v, %v", problems, err)
	}
	got := number(t, db, "SELECT count(*) FROM exchange")
	if got < want || got > want+3 || got%3 != 0 {
		t.Fatalf("%d exchanges, %d were reported", got, want)
	}
	return got
}

// Two recorders on one file, and readers beside them: everybody gets through.
func TestUpdate_TwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	var cmds []*exec.Cmd
	for range 3 {
		cmd := job(t, "write50", path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mine := newConversation(99, 3000)
	for n := range 20 {
		record(t, db, mine, 1+n, 1, 500)
		for _, err := range db.Exchanges(t.Context(), transcript.Filter{Limit: 5}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if problems, err := db.Verify(t.Context(), nil); err != nil || len(problems) > 0 {
		t.Fatalf("verify: %v, %v", problems, err)
	}
	if n, highest := number(t, db, "SELECT count(*) FROM exchange"), number(t, db, "SELECT max(n) FROM exchange"); n != 20+3*51 || highest != n {
		t.Errorf("%d exchanges up to x%d, want %d", n, highest, 20+3*51)
	}
}
