package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Waiting is what a spool holds: folders of running processes, and what dead
// processes left.
type Waiting struct {
	Running   int // folders of running processes
	Folders   int // other folders in which exchanges wait
	Exchanges int // about how many exchanges that are, at most maxCounted
	Damaged   int // places in these folders that cannot be read
}

// OrMore reports whether counting stopped at Exchanges.
func (w Waiting) OrMore() bool { return w.Exchanges >= maxCounted }

// maxCounted is where Abandoned stops counting.
const maxCounted = 10_000

// Abandoned returns what waits in the spool dir. It takes no lock and does not wait
// for other processes. A missing spool is an empty one. Leftovers reads what
// Abandoned finds.
func Abandoned(dir string) (Waiting, error) {
	var w Waiting
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return w, fmt.Errorf("list spool: %w", err)
	}
	var errs []error
	for _, name := range names {
		if !name.IsDir() || !strings.HasPrefix(name.Name(), folderPrefix) {
			continue
		}
		if err := w.add(filepath.Join(dir, name.Name())); err != nil {
			errs = append(errs, err)
		}
	}
	return w, errors.Join(errs...)
}

func (w *Waiting) add(path string) error {
	f, err := lockFolder(path)
	if errors.Is(err, errLocked) {
		w.Running++
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	f.lock.Close()
	paths, err := f.files()
	if err != nil {
		return err
	}
	found, damaged := 0, 0
	for _, path := range paths {
		n, places, err := countExchanges(path, maxCounted-w.Exchanges-found)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		found, damaged = found+n, damaged+places
	}
	if found > 0 || damaged > 0 {
		w.Folders++
		w.Exchanges += found
		w.Damaged += damaged
	}
	return nil
}

// countExchanges counts the exchanges in a spool file that are not released, up to
// most, and the damaged places before its last frame.
func countExchanges(path string, most int) (found, damaged int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, 0, fmt.Errorf("open spool file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, 0, fmt.Errorf("open spool file: %w", err)
	}
	w := frameReader{span: span{file: file, end: info.Size(), blocks: &blockPool{}}}
	ok, places, err := w.first()
	for ok && found < most {
		at := w.pos
		f, whole := w.nextWhole()
		if !whole {
			if ok = w.seek(at+1, false); ok {
				places.add(at, w.pos)
			}
			continue
		}
		if f.kind == FrameBegin && !f.marked {
			found++
		}
	}
	return found, places.places, err
}
