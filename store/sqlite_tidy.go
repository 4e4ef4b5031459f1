package store

import (
	"context"
	"time"
)

// settleMost bounds for how long Close makes the file small.
const settleMost = 250 * time.Millisecond

// tidy makes the file small while nothing is recorded: it compresses the packs that
// are not compressed yet, frees pages and empties the write-ahead log.
// Errors do not matter: without it the file is whole as well, only larger.
func (cp *checkpointer) tidy() {
	for settled, left := false, int64(1); left > 0; settled = true {
		if cp.w.lock(context.Background()) != nil {
			return
		}
		if !settled {
			_ = cp.w.settle()
		}
		before := left
		left = cp.w.giveBack()
		cp.w.unlock()
		if settled && left >= before { // others free as much as is given back
			break
		}
		select {
		case <-cp.stop:
			return
		case <-time.After(restLeast):
		}
	}
	_, _, _ = cp.log("TRUNCATE") // does nothing while there are readers
}

// shrink does the same within settleMost, but for the log: closing moves that into
// the file. The caller holds the turn.
func (w *writer) shrink() {
	began := time.Now()
	_ = w.settle()
	for left := int64(1); left > 0 && time.Since(began) < settleMost; {
		before := left
		if left = w.giveBack(); left >= before && before > 1 {
			return
		}
	}
}

// settle compresses the packs that this process has left as they were. The caller
// holds the turn.
func (w *writer) settle() error {
	ctx, cancel := context.WithTimeout(context.Background(), settleMost)
	defer cancel()
	return w.update(ctx, func(*tx) error {
		for _, l := range w.bodies.Streams {
			if err := l.Settle(); err != nil {
				return err
			}
		}
		return nil
	})
}

// giveBack returns free pages back for as long as a transaction may take, and returns
// how many are left. The caller holds the turn.
func (w *writer) giveBack() (left int64) {
	ctx, cancel := context.WithTimeout(context.Background(), settleMost)
	defer cancel()
	_ = w.update(ctx, func(t *tx) error {
		for {
			if err := t.vacuum(spaceStep); err != nil {
				return err
			}
			err := t.st.row(ctx, "SELECT freelist_count FROM pragma_freelist_count", nil, &left)
			if err != nil || left == 0 || t.enough() {
				return err
			}
		}
	})
	return left
}
