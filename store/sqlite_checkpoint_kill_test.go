package store_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// heldBack is how many exchanges of 100 KB wait in the log before it is moved.
const heldBack = 150

// writeAndMove stores exchanges while a reader keeps the log from being moved,
// then lets the reader go and goes on storing: the log is moved meanwhile.
func writeAndMove(path string) error {
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	release, _, err := db.Hold(background)
	if err != nil {
		return err
	}
	var seed [32]byte // another one each time: ids are made of it
	binary.LittleEndian.PutUint64(seed[:], uint64(time.Now().UnixNano()))
	noise := rand.NewChaCha8(seed)
	for n := 1; ; n++ {
		e, answer := example(n), make([]byte, 100<<10)
		_, _ = noise.Read(answer)
		e.ID = fmt.Sprintf("%x", answer[:16])
		e.Request.SHA256, e.Response.SHA256 = "", hash([][]byte{answer})
		if err := db.Update(background, func(tx transcript.Tx) error { return putStep(tx, e, nil, [][]byte{answer}) }); err != nil {
			return err
		}
		if n == heldBack {
			release()
		}
		fmt.Println(n)
	}
}

// Killed while the log is moved into the file, nothing that was committed is
// missing.
func TestCheckpoint_SurvivesKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	stored := int64(0)
	for round := range 6 {
		cmd := job(t, "move", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		told := int64(0)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if told, err = strconv.ParseInt(lines.Text(), 10, 64); err != nil {
				t.Fatal(err)
			}
			if told == heldBack+1 { // the first one that wakes the checkpointer without the reader
				time.AfterFunc(time.Duration(round*3000+rand.IntN(3000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the writer was not killed")
		}
		if told <= heldBack {
			t.Fatalf("killed after %d exchanges: too early", told)
		}
		db, err := store.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		problems, err := db.Verify(t.Context(), nil)
		if err != nil || len(problems) > 0 {
			t.Fatalf("verify: %v, %v", problems, err)
		}
		got := number(t, db, "SELECT count(*) FROM exchange")
		if got < stored+told || got > stored+told+1 {
			t.Fatalf("round %d: %d exchanges, %d were reported", round, got, stored+told)
		}
		stored = got
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
