//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe, and so /dev/null too, is written to and not replaced by a file.
func TestWriteTo_APipeStaysAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("make pipe: %v", err)
	}
	read := make(chan string, 1)
	go func() {
		text, err := os.ReadFile(pipe)
		if err != nil {
			t.Error(err)
		}
		read <- string(text)
	}()
	a := &app{}
	err := a.writeTo(pipe, func(w io.Writer) error {
		_, err := io.WriteString(w, "exported")
		return err
	})
	if got := <-read; err != nil || got != "exported" {
		t.Errorf("the pipe gave %q, %v", got, err)
	}
	if info, err := os.Stat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is replaced: %v, %v", info.Mode(), err)
	}
}
