package store_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// A disk that is really full, with the write-ahead log on it. Needs the right
// to mount.
func TestUpdate_FullFileSystem(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=3m"); err != nil {
		t.Skipf("mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
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
			failed++
			t.Log(err)
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
