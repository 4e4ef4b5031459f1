package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
)

// The names in a spool: one folder for each process, with files in it. A folder has
// another prefix until it is locked.
const (
	folderPrefix = "live-"
	makingPrefix = "new-"
	filePrefix   = "lane-"
)

// errLocked says that another process has locked a folder.
var errLocked = errors.New("locked by another process")

// folder is a locked folder of spool files. The lock is on the open folder itself,
// and the kernel drops it however the process ends.
type folder struct {
	path string
	lock *os.File
}

// makeFolder makes and locks a folder in dir. Other processes do not see it before
// it is locked.
func makeFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make spool: %w", err)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("name spool folder: %w", err)
	}
	making := filepath.Join(dir, makingPrefix+id.String())
	if err := os.Mkdir(making, 0o700); err != nil {
		return nil, fmt.Errorf("make spool folder: %w", err)
	}
	f, err := lockFolder(making)
	if err != nil {
		os.Remove(making)
		return nil, err
	}
	path := filepath.Join(dir, folderPrefix+id.String())
	if err := os.Rename(making, path); err != nil {
		f.lock.Close()
		return nil, fmt.Errorf("name spool folder: %w", err)
	}
	f.path = path
	return f, nil
}

// lockFolder locks a folder. It returns errLocked if another process has.
func lockFolder(path string) (*folder, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open spool folder: %w", err)
	}
	if err := lock(d); err != nil {
		d.Close()
		return nil, fmt.Errorf("lock spool folder: %w", err)
	}
	return &folder{path: path, lock: d}, nil
}

// gone reports whether the folder was removed or replaced.
func (f *folder) gone() bool {
	now, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	locked, err2 := f.lock.Stat()
	return err == nil && err2 == nil && !os.SameFile(now, locked)
}

// remove deletes the folder and unlocks it.
func (f *folder) remove() error {
	defer f.lock.Close()
	names, err := f.files()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			return fmt.Errorf("remove spool file: %w", err)
		}
	}
	if err := os.Remove(f.path); err != nil {
		return fmt.Errorf("remove spool folder: %w", err)
	}
	return nil
}

// files returns the paths of the files in it.
func (f *folder) files() ([]string, error) {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return nil, fmt.Errorf("list spool folder: %w", err)
	}
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filePrefix) && e.Type().IsRegular() {
			paths = append(paths, filepath.Join(f.path, e.Name()))
		}
	}
	return paths, nil
}

// newFilePath returns the path of a new file. If the folder was removed, it makes
// another one.
func (s *Spool) newFilePath() (string, error) {
	s.folderMu.Lock()
	defer s.folderMu.Unlock()
	if s.folder.gone() {
		f, err := makeFolder(s.dir)
		if err != nil {
			return "", err
		}
		s.mu.Lock()
		s.orphans = append(s.orphans, s.folder)
		s.folder = f
		s.mu.Unlock()
	}
	s.filesMade++
	return filepath.Join(s.folder.path, fmt.Sprintf("%s%06d", filePrefix, s.filesMade)), nil
}

// folderGone reports whether the folder was removed. It looks once a second.
func (s *Spool) folderGone() bool {
	now := s.opts.Now().UnixNano()
	last := s.folderChecked.Load()
	if now-last < int64(time.Second) && now >= last || !s.folderChecked.CompareAndSwap(last, now) {
		return false
	}
	s.folderMu.Lock()
	defer s.folderMu.Unlock()
	return s.folder.gone()
}
