package recorder

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// Leftovers gives the records that dead processes left, in the order of their
// ends, each of them once; exchanges that were cut have outcome
// RecorderCrashed. A folder is removed when all its records are released. An
// error concerns one folder or record; the sequence goes on after it.
func (s *Spool) Leftovers() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		names, err := os.ReadDir(s.dir)
		if err != nil {
			yield(nil, fmt.Errorf("list spool: %w", err))
			return
		}
		for _, name := range names {
			if !name.IsDir() || !strings.HasPrefix(name.Name(), folderPrefix) {
				continue
			}
			if !leftFolder(filepath.Join(s.dir, name.Name()), yield) {
				return
			}
		}
	}
}

// leftFolder gives the records of one folder, if nobody holds it.
func leftFolder(path string, yield func(*Record, error) bool) bool {
	f, err := lockFolder(path)
	if errors.Is(err, errHeld) || errors.Is(err, os.ErrNotExist) {
		return true
	}
	if err != nil {
		return yield(nil, err)
	}
	if f.gone() { // whoever held it a moment ago has removed it
		f.lock.Close()
		return true
	}
	l := &left{folder: f}
	defer l.unref()
	entries, err := l.scan()
	if err != nil && !yield(nil, err) {
		return false
	}
	l.mu.Lock()
	l.unreleased = len(entries)
	l.mu.Unlock()
	for _, e := range entries {
		r, err := l.record(e)
		if !yield(r, err) {
			return false
		}
	}
	return true
}

// left is a folder of a dead process. It is kept locked until all records are
// released, and for as long as its records are being listed.
type left struct {
	folder     *folder
	files      []*os.File
	blocks     blockPool
	mu         sync.Mutex
	unreleased int
	listed     bool
}

// leftEntry is an exchange found in a lane.
type leftEntry struct {
	span
	ended time.Time // of a cut one: when its last frame came
	whole bool
}

func (l *left) scan() ([]leftEntry, error) {
	paths, err := l.folder.lanes()
	if err != nil {
		return nil, err
	}
	var entries []leftEntry
	var errs []error
	for _, path := range paths {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			errs = append(errs, fmt.Errorf("open lane: %w", err))
			continue
		}
		l.files = append(l.files, file)
		info, err := file.Stat()
		if err != nil {
			errs = append(errs, fmt.Errorf("open lane: %w", err))
			continue
		}
		found, err := scanLane(file, info.Size(), &l.blocks)
		if err != nil {
			errs = append(errs, fmt.Errorf("read lane: %w", err))
		}
		entries = append(entries, found...)
	}
	sort.SliceStable(entries, func(i, j int) bool { return entries[i].ended.Before(entries[j].ended) })
	return entries, errors.Join(errs...)
}

// scanLane finds the exchanges in a lane that are not released. It ends at the
// first thing that is no whole frame of the lane's epoch: the place where the
// lane's process died, or something left from before that.
func scanLane(file io.ReaderAt, size int64, blocks *blockPool) ([]leftEntry, error) {
	var h [frameHeaderBytes]byte
	if n, err := file.ReadAt(h[:], 0); n < len(h) {
		return nil, short(n, n, err)
	}
	first, ok := parseFrame(h[:])
	if !ok {
		return nil, nil
	}
	w := walker{span: span{file: file, end: size, epoch: first.epoch, blocks: blocks}}
	defer w.free()
	var entries []leftEntry
	var current *leftEntry
	var began time.Time
	for {
		at := w.pos
		f, err := w.next()
		if err != nil {
			return entries, nil
		}
		if whole, err := w.check(f); err != nil || !whole {
			return entries, err
		}
		if f.kind == frameBegin {
			current = nil
			var b begin
			if !f.marked && f.length <= maxMeta && readBegin(&w, f, &b) == nil {
				entries = append(entries, leftEntry{span: span{file: file, start: at, epoch: first.epoch, blocks: blocks}})
				current, began = &entries[len(entries)-1], b.StartedAt
			}
		}
		if current != nil {
			current.end = w.pos
			current.ended = began.Add(f.at)
			current.whole = current.whole || f.kind == frameEnd
		}
	}
}

func readBegin(w *walker, f frame, b *begin) error {
	payload := make([]byte, f.length)
	if err := w.payload(payload); err != nil {
		return err
	}
	return b.parse(payload)
}

func (l *left) record(e leftEntry) (*Record, error) {
	r, err := readRecord(e.span)
	if err != nil {
		return nil, fmt.Errorf("read leftover: %w", err)
	}
	if !e.whole {
		r.Outcome, r.EndedAt = transcript.RecorderCrashed, e.ended
		r.Error = &transcript.Error{Type: "recorder_crashed", Message: "the recorder ended before the exchange did"}
	}
	r.release = func() error {
		_, err := e.file.(File).WriteAt([]byte{1}, e.start+frameMark)
		return errors.Join(err, l.drop())
	}
	return r, nil
}

// drop counts a release and removes the folder after the last.
func (l *left) drop() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unreleased--
	return l.finish()
}

// unref says that the listing is over.
func (l *left) unref() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listed = true
	l.finish()
}

func (l *left) finish() error {
	if !l.listed || l.unreleased > 0 || l.folder == nil {
		return nil
	}
	for _, f := range l.files {
		f.Close()
	}
	f := l.folder
	l.folder = nil
	return f.remove()
}
