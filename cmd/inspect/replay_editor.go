package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

var errNoChange = errors.New("nothing was changed in the editor, so nothing was sent")

// editByHand opens the request, with the other edits applied, in an editor, and
// returns the changes made there as edits.
func (a *app) editByHand(ctx context.Context, before []byte) ([]transcript.Edit, error) {
	var shown bytes.Buffer
	if err := json.Indent(&shown, before, "", "  "); err != nil {
		return nil, fmt.Errorf("show request: %w", err)
	}
	shown.WriteByte('\n')
	dir, err := os.MkdirTemp("", "retake-edit-")
	if err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "request.json")
	if err := os.WriteFile(file, shown.Bytes(), 0o600); err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	if err := a.runEditor(ctx, file); err != nil {
		return nil, err
	}
	after, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	byHand, err := replay.Difference(before, after)
	if err != nil {
		return nil, usageError{err}
	}
	if len(byHand) == 0 {
		return nil, usageError{errNoChange}
	}
	return byHand, nil
}

// runEditor opens a file in the user's editor, which may be a command with flags.
func (a *app) runEditor(ctx context.Context, file string) error {
	editor := a.getenv("VISUAL")
	if editor == "" {
		editor = a.getenv("EDITOR")
	}
	if editor == "" {
		return usageError{errors.New("--edit: set VISUAL or EDITOR to an editor")}
	}
	c := exec.CommandContext(ctx, "sh", "-c", editor+` "$@"`, editor, file)
	c.Stdin, c.Stdout, c.Stderr = a.in, a.err, a.err
	if file, ok := a.out.(*os.File); ok && a.terminal() {
		c.Stdout = file
	}
	if err := c.Run(); err != nil {
		return fmt.Errorf("run editor %s: %w", editor, err)
	}
	return nil
}
