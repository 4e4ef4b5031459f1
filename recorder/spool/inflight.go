package spool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// InFlight gives the exchanges that running recorders have under way in the spool
// dir, in the order in which they began: what of each has come so far, with
// outcome InProgress. It only reads, holds no lock, and makes nobody wait; what is
// written meanwhile may be missing. A spool that is not there is an empty one. An
// error concerns one lane; what others hold is given all the same.
func InFlight(dir string) ([]*transcript.Capture, error) {
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list spool: %w", err)
	}
	var list []*transcript.Capture
	var errs []error
	for _, name := range names {
		path := filepath.Join(dir, name.Name())
		if !name.IsDir() || !strings.HasPrefix(name.Name(), folderPrefix) || !isLocked(path) {
			continue
		}
		lanes, err := (&folder{path: path}).files()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		for _, lane := range lanes {
			c, err := underWay(lane)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
			if c != nil {
				list = append(list, c)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *transcript.Capture) int { return a.StartedAt.Compare(b.StartedAt) })
	return list, errors.Join(errs...)
}

// isLocked tells whether a process works in a folder: what others have left behind
// is not under way.
func isLocked(path string) bool {
	f, err := lockFolder(path)
	if err == nil {
		f.lock.Close()
	}
	return errors.Is(err, errLocked)
}

// underWay gives the exchange that is being written to a lane; nil if there is
// none. Of several that overlap in time each has a lane of its own, so it is the
// last one there.
func underWay(path string) (*transcript.Capture, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open lane: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("open lane: %w", err)
	}
	blocks := &blockPool{}
	entries, err := scanFile(file, info.Size(), blocks)
	if err != nil || len(entries) == 0 || entries[len(entries)-1].whole {
		return nil, ignoreShort(err)
	}
	last := entries[len(entries)-1].span
	size := last.end - last.start
	if size > maxMeta {
		return nil, nil // it is shown when it has ended
	}
	// The lane may be written anew at any time: what is looked at is a copy.
	b := make([]byte, size)
	if n, err := file.ReadAt(b, last.start); n < len(b) {
		return nil, ignoreShort(short(n, len(b), err))
	}
	copied := span{file: bytes.NewReader(b), end: size, epoch: last.epoch, blocks: blocks, memory: b}
	again, err := scanFile(bytes.NewReader(b), size, blocks)
	if err != nil || len(again) != 1 || again[0].end != size {
		return nil, nil
	}
	r, err := readRecord(copied)
	if err != nil {
		return nil, nil // it was written anew
	}
	return &r.Capture, nil
}

// ignoreShort passes over an end that has moved meanwhile.
func ignoreShort(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
