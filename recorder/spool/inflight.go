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

// InFlight returns the exchanges that running recorders have under way in the spool
// dir, in the order in which they began. Each holds what has arrived so far, with
// outcome InProgress. InFlight only reads and takes no lock; what is written
// meanwhile may be missing. A missing spool is an empty one. An error concerns one
// file; exchanges in others are returned as well.
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
		paths, err := (&folder{path: path}).files()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		for _, file := range paths {
			c, err := underWay(file)
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

// isLocked reports whether a process works in a folder. What dead processes left is
// not under way.
func isLocked(path string) bool {
	f, err := lockFolder(path)
	if err == nil {
		f.lock.Close()
	}
	return errors.Is(err, errLocked)
}

// underWay returns the exchange that is being written to a file; nil if there is
// none. Exchanges that overlap in time have files of their own, so it is the last
// one there.
func underWay(path string) (*transcript.Capture, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open spool file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("open spool file: %w", err)
	}
	blocks := &blockPool{}
	entries, err := scanFile(file, info.Size(), blocks)
	if err != nil || len(entries) == 0 || entries[len(entries)-1].whole {
		return nil, ignoreShort(err)
	}
	last := entries[len(entries)-1].span
	size := last.end - last.start
	if size > maxMeta {
		return nil, nil // too large: shown when it has ended
	}
	// The file may be written anew at any time, so read from a copy.
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

// ignoreShort ignores that the end of a file moved meanwhile.
func ignoreShort(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
