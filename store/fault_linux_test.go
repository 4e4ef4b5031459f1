package store_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// fileSystem makes a file system of that size.
func fileSystem(t *testing.T, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A disk that is really full, with the write-ahead log on it. Needs the right
// to mount.
func TestUpdate_FullFileSystem(t *testing.T) {
	dir := fileSystem(t, "3m")
	path := filepath.Join(dir, "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := newConversation(1, 5000)
	stored := int64(0)
	for failed := 0; failed < 5; { // it stays full for a while
		e, request, response := example(int(stored)+1), c.next(2000), [][]byte{element(c.r, 20_000)}
		e.Request.SHA256, e.Response.SHA256 = hash(request), hash(response)
		err := db.Update(t.Context(), func(tx transcript.Tx) error { return putStep(tx, e, request, response) })
		if err != nil {
			if failed++; !store.IsFull(err) {
				t.Errorf("%v, want that it is full", err)
			}
		} else {
			stored++
		}
		if stored > 5000 {
			t.Fatal("the file system does not get full")
		}
	}
	if got := number(t, db, "SELECT count(*) FROM exchange"); got != stored {
		t.Errorf("%d exchanges, want %d", got, stored)
	}
	if problems, err := db.Verify(t.Context(), nil); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=30m"); err != nil {
		t.Fatal(err)
	}
	record(t, db, c, int(stored)+1, 20, 2000)
	if problems, err := db.Verify(t.Context(), nil); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
}

// A prune that a full disk ends leaves a whole database with all that is kept, and
// another one finishes it when there is space.
func TestPrune_FullFileSystem(t *testing.T) {
	dir := fileSystem(t, "60m")
	path := filepath.Join(dir, "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conversations(t, db, 1, 3, 60, 4000)
	indexEach(t, db, 180)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	pruned := func(spare int64) error {
		size := fmt.Sprintf("size=%d", fileSize(t, path)+spare)
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, size); err != nil {
			t.Fatal(err)
		}
		db, err := store.Open(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		plan, err := db.Plan(t.Context(), store.Selection{Before: example(121).StartedAt})
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Prune(t.Context(), plan, nil)
		wholeFile(t, db)
		if n := number(t, db, "SELECT count(*) FROM exchange WHERE n > 120"); n != 60 {
			t.Fatalf("%d exchanges are kept", n)
		}
		if err == nil {
			tidy(t, db)
		}
		return err
	}
	failed := 0
	for spare := int64(100 << 10); ; spare += 100 << 10 {
		err := pruned(spare)
		if err == nil {
			break
		}
		if failed++; failed > 100 || !store.IsFull(err) {
			t.Fatal(err)
		}
	}
	if failed < 2 {
		t.Errorf("the disk was full %d times only", failed)
	}
}
