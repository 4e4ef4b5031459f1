package spool

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

// Leftovers returns the records that dead processes left, each once, in the order
// in which they ended. Exchanges that were cut have outcome RecorderCrashed. A
// folder is removed when all its records are released. An error concerns one folder
// or record; the sequence goes on after it.
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
			if !yieldLeftovers(filepath.Join(s.dir, name.Name()), yield) {
				return
			}
		}
	}
}

// yieldLeftovers yields the records of one folder, unless a process has locked it.
func yieldLeftovers(path string, yield func(*Record, error) bool) bool {
	f, err := lockFolder(path)
	if errors.Is(err, errLocked) || errors.Is(err, os.ErrNotExist) {
		return true
	}
	if err != nil {
		return yield(nil, err)
	}
	if f.gone() { // its process has just removed it
		f.lock.Close()
		return true
	}
	l := &leftoverFolder{folder: f}
	defer l.endListing()
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

// leftoverFolder is the folder of a dead process. It stays locked while its records
// are listed and until all are released.
type leftoverFolder struct {
	folder     *folder
	files      []*os.File
	blocks     blockPool
	mu         sync.Mutex
	unreleased int
	listed     bool
}

// leftover is an exchange found in a file.
type leftover struct {
	span
	ended time.Time // if it was cut: when its last frame was written
	whole bool
}

func (l *leftoverFolder) scan() ([]leftover, error) {
	paths, err := l.folder.files()
	if err != nil {
		return nil, err
	}
	var entries []leftover
	var errs []error
	for _, path := range paths {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			errs = append(errs, fmt.Errorf("open spool file: %w", err))
			continue
		}
		l.files = append(l.files, file)
		info, err := file.Stat()
		if err != nil {
			errs = append(errs, fmt.Errorf("open spool file: %w", err))
			continue
		}
		found, err := scanFile(file, info.Size(), &l.blocks)
		if err != nil {
			errs = append(errs, fmt.Errorf("read spool file: %w", err))
		}
		entries = append(entries, found...)
	}
	sort.SliceStable(entries, func(i, j int) bool { return entries[i].ended.Before(entries[j].ended) })
	return entries, errors.Join(errs...)
}

// ErrDamaged says that part of a spool cannot be read. The rest can.
var ErrDamaged = errors.New("the spool is damaged")

// damage is the damaged places before the last frame of a file.
type damage struct {
	places int
	first  int64 // where the first of them is
	bytes  int64
}

func (g *damage) add(from, to int64) {
	if from == to {
		return
	}
	if g.places == 0 {
		g.first = from
	}
	g.places, g.bytes = g.places+1, g.bytes+to-from
}

func (g *damage) err() error {
	if g.places == 0 {
		return nil
	}
	where := fmt.Sprintf("%d bytes at %d", g.bytes, g.first)
	if g.places > 1 {
		where = fmt.Sprintf("%d bytes in %d places, the first at %d", g.bytes, g.places, g.first)
	}
	return fmt.Errorf("%w: %s: what was recorded there is lost, whole or in part", ErrDamaged, where)
}

// first steps to the first frame of a file, which sets the epoch, and reports
// whether there is one. A file that was never written to begins with zeros or is
// empty; one whose process died during its first write begins with the magic.
func (w *frameReader) first() (ok bool, g damage, err error) {
	var h [HeaderBytes]byte
	n, err := w.file.ReadAt(h[:], 0)
	if n < len(h) {
		return false, g, short(n, n, err)
	}
	first, magic := parseFrame(h[:])
	if w.epoch = first.epoch; magic {
		ok = w.frameAt(0, false) || w.seek(1, false)
	}
	if !ok {
		ok = w.seek(1, true)
	}
	switch {
	case ok:
		g.add(0, w.pos)
	case !magic && h != [HeaderBytes]byte{}:
		g.add(0, w.end)
	}
	return ok, g, nil
}

// scanFile finds the exchanges in a file that are not released. It ends at the last
// whole frame of the file's epoch: there the process died, or older data begins.
// The error tells of damage before that; the exchange in which damage begins is cut
// there.
func scanFile(file io.ReaderAt, size int64, blocks *blockPool) ([]leftover, error) {
	w := frameReader{span: span{file: file, end: size, blocks: blocks}}
	defer w.free()
	ok, damaged, err := w.first()
	if err != nil {
		return nil, err
	}
	var entries []leftover
	var current *leftover
	var began time.Time
	for ok {
		at := w.pos
		f, whole := w.nextWhole()
		if !whole {
			if ok = w.seek(at+1, false); ok {
				damaged.add(at, w.pos)
				current = nil
			}
			continue
		}
		if f.kind == FrameBegin {
			current = nil
			var b Begin
			if !f.marked && f.length <= maxMeta && readBegin(&w, f, &b) == nil {
				entries = append(entries, leftover{span: span{file: file, start: at, epoch: w.epoch, blocks: blocks}})
				current, began = &entries[len(entries)-1], b.StartedAt
			}
		}
		if current != nil {
			current.end = w.pos
			current.ended = began.Add(f.at)
			current.whole = current.whole || f.kind == FrameEnd
		}
	}
	return entries, damaged.err()
}

func readBegin(w *frameReader, f frame, b *Begin) error {
	payload := make([]byte, f.length)
	if err := w.payload(payload); err != nil {
		return err
	}
	return b.parse(payload)
}

func (l *leftoverFolder) record(e leftover) (*Record, error) {
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
		return errors.Join(err, l.released())
	}
	return r, nil
}

// released counts a release and removes the folder after the last one.
func (l *leftoverFolder) released() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unreleased--
	return l.removeIfDone()
}

// endListing says that the records have been listed.
func (l *leftoverFolder) endListing() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listed = true
	_ = l.removeIfDone()
}

func (l *leftoverFolder) removeIfDone() error {
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
