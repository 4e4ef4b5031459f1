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

// errNoChange says that an editor left the request as it was.
var errNoChange = errors.New("nothing was changed in the editor, so nothing is sent")

// editByHand shows the request, as the edits so far leave it, in an editor, and
// gives what was changed there as edits.
func (a *app) editByHand(ctx context.Context, r transcript.Reader, origin *transcript.Exchange, edits []transcript.Edit) ([]transcript.Edit, error) {
	before, err := a.editedBody(ctx, r, origin, edits)
	if err != nil {
		return nil, err
	}
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

// editedBody gives the whole request with the edits so far.
func (a *app) editedBody(ctx context.Context, r transcript.Reader, origin *transcript.Exchange, edits []transcript.Edit) ([]byte, error) {
	if len(edits) == 0 {
		body, _, err := replay.Full(ctx, r, origin)
		return body, err
	}
	req, err := replay.NewRequest(ctx, r, origin, edits)
	if err != nil {
		return nil, editError(err, origin)
	}
	return req.Body, nil
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
