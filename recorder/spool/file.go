package spool

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// File is what the spool needs of a file.
type File interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Close() error
}

func createFile(path string) (File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// spoolFile is a file that exchanges are written to one after the other. The
// spool's mutex guards its fields, except extent, which belongs to the recording
// that writes. file and path do not change once an exchange was written.
type spoolFile struct {
	file   File // nil until the first write
	path   string
	extent int64 // how much of the file was written, zeros included
	epoch  uint64
	size   int64 // of the file
	end    int64 // where the next exchange goes
	live   int   // records not released
	busy   bool  // an exchange is being written, or a stalled write has not returned
	listed bool  // in the spool's free list
}

// growBytes is how much a file grows by at once. Small writes into existing space
// take half as long as those at the end, and the kernel keeps the pages of one
// write together.
const growBytes = 32 << 10

// write writes part of an exchange. The file grows in large steps up to the size
// that it may keep. If growing fails, the write returns the error.
func (s *Spool) write(l *spoolFile, b []byte, at int64) error {
	end := at + int64(len(b))
	if grown := min((end/growBytes+1)*growBytes, s.opts.FileBytes); end > l.extent && end < grown && len(b) < growBytes {
		if _, err := l.file.WriteAt(s.zeros[:grown-l.extent], l.extent); err == nil {
			l.extent = grown
		}
	}
	_, err := l.file.WriteAt(b, at)
	if err == nil {
		l.extent = max(l.extent, end)
	}
	return err
}

// rewind makes the file start anew: what it holds is no longer needed.
func (l *spoolFile) rewind() {
	l.end = 0
	l.epoch = rand.Uint64()
}

// The spool keeps this much space for reuse. What a burst needed beyond it is
// returned to the disk.
const (
	keepFiles = 256
	keepBytes = 256 << 20
)

// acquire returns a file for the next exchange. It prefers a drained one, since
// writing over old pages costs half as much as writing new ones. It does not touch
// the disk: the first write creates a new file.
func (s *Spool) acquire() *spoolFile {
	pick := -1
	for i := len(s.free) - 1; i >= 0; i-- {
		l := s.free[i]
		if l.end == 0 {
			pick = i
			break
		}
		if pick < 0 && l.end < s.fileLimit() {
			pick = i
		}
	}
	if pick < 0 {
		l := &spoolFile{busy: true}
		l.rewind()
		return l
	}
	l := s.free[pick]
	s.free = append(s.free[:pick], s.free[pick+1:]...)
	l.listed, l.busy = false, true
	return l
}

// fileLimit grows with the backlog, so that a long backlog does not need more files
// than a process may open.
func (s *Spool) fileLimit() int64 {
	return max(s.opts.FileBytes, s.stats.BacklogBytes/64)
}

// open creates the file if there is none, or if it is to be written from its start
// and the folder is gone. It may block, so the spool's mutex must not be held.
func (s *Spool) open(l *spoolFile, fresh bool) error {
	if l.file != nil && !(fresh && s.folderGone()) {
		return nil
	}
	path, err := s.newFilePath()
	if err != nil {
		return err
	}
	file, err := s.opts.Create(path)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.file != nil {
		l.file.Close() // of a folder that is gone
		s.resize(l, 0)
	} else {
		s.files++
	}
	l.file, l.path, l.extent = file, path, 0
	return nil
}

// giveBack takes a file back whose exchange ended at end.
func (s *Spool) giveBack(l *spoolFile, end int64) {
	l.busy = false
	l.end = end
	if l.file == nil {
		return // never written
	}
	s.resize(l, l.extent)
	s.settle(l)
}

// settle puts a file that is not busy on the free list, or has it trimmed.
func (s *Spool) settle(l *spoolFile) {
	if l.busy {
		return
	}
	if l.live == 0 {
		l.rewind()
		s.unlist(l)
		surplus := s.closed || s.files > keepFiles || filepath.Dir(l.path) != s.folder.path
		if surplus || l.size > s.keep() {
			l.busy = true
			go s.trim(l, surplus)
			return
		}
	}
	if !l.listed && l.end < s.fileLimit() {
		l.listed = true
		s.free = append(s.free, l)
	}
}

func (s *Spool) unlist(l *spoolFile) {
	if !l.listed {
		return
	}
	for i, f := range s.free {
		if f == l {
			s.free = append(s.free[:i], s.free[i+1:]...)
			break
		}
	}
	l.listed = false
}

// keep is the size up to which a drained file may stay.
func (s *Spool) keep() int64 {
	if s.stats.Bytes > keepBytes {
		return 0
	}
	return s.opts.FileBytes
}

// trim returns the space of a drained file to the disk. It may block and holds no
// lock meanwhile.
func (s *Spool) trim(l *spoolFile, remove bool) {
	size := int64(0)
	if remove {
		l.file.Close()
		os.Remove(l.path)
	} else {
		s.mu.Lock()
		size = s.keep()
		s.mu.Unlock()
		if l.file.Truncate(size) != nil {
			size = l.size
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resize(l, size)
	l.extent = size
	if remove {
		s.files--
		return
	}
	l.busy, l.listed = false, true
	s.free = append(s.free, l)
}

func (s *Spool) resize(l *spoolFile, size int64) {
	s.stats.Bytes += size - l.size
	l.size = size
}
