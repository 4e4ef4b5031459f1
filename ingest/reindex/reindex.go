package reindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/ingest/decode"
	"github.com/retake-debugger/retake/transcript"
)

const (
	reindexNote  = "reindex" // name of the note that says how far it got
	reindexGroup = 32        // exchanges in one transaction at most
	reindexBytes = 4 << 20   // and about so many bytes of bodies
)

// Result tells what Reindex did.
type Result struct {
	Exchanges  int64 `json:"exchanges"`    // derived again
	Changed    int64 `json:"changed"`      // of them, that are another now
	Unreadable int64 `json:"unreadable"`   // left as they were
	From       int64 `json:"resumed_from"` // number of the exchange that an earlier one got to
}

// Run throws away what is derived of all exchanges, oldest first, and
// derives it again from their bodies, as if they came now one after the other.
// Numbers, ids, labels and takes stay, and so does a link to an exchange that
// was removed. Only what comes out otherwise is written, in short transactions.
// The search index is emptied; Index fills it again.
//
// One that was cut off goes on where it was if version, which names the program,
// is the same. progress may be nil; it is told the numbers of the exchange
// reached and of the newest one.
func Run(ctx context.Context, s transcript.Store, version string, progress func(done, newest int64)) (Result, error) {
	r := &reindexer{ctx: ctx, store: s, version: version, changed: map[int64]bool{}}
	if err := r.resume(); err != nil {
		return r.did, fmt.Errorf("reindex: %w", err)
	}
	for {
		more, err := r.group()
		if err != nil || !more {
			if err != nil {
				err = fmt.Errorf("reindex after x%d: %w", r.after, err)
			}
			return r.did, err
		}
		if progress != nil {
			progress(r.after, r.newest)
		}
	}
}

type reindexer struct {
	ctx     context.Context
	store   transcript.Store
	version string
	decoder decode.Decoder
	after   int64 // number of the last exchange that is done
	newest  int64
	did     Result
	changed map[int64]bool // by their numbers
}

// reached is what the note holds.
type reached struct {
	Version string `json:"version"`
	Done    int64  `json:"done"`
}

func (r *reindexer) resume() error {
	text, err := r.store.Note(r.ctx, reindexNote)
	if err != nil {
		return err
	}
	var at reached
	if text != "" && json.Unmarshal([]byte(text), &at) == nil && at.Version == r.version {
		r.after, r.did.From = at.Done, at.Done
		return nil
	}
	return r.store.Update(r.ctx, func(tx transcript.Tx) error {
		return errors.Join(tx.DropAllTexts(), tx.SetNote(reindexNote, r.note()))
	})
}

func (r *reindexer) note() string {
	text, _ := json.Marshal(reached{r.version, r.after})
	return string(text)
}

// group derives the next exchanges. It gives false when there are no more.
func (r *reindexer) group() (more bool, err error) {
	batch, last, err := r.decode()
	if err != nil {
		return false, err
	}
	if last == 0 {
		return r.finish()
	}
	before := r.after
	var did int64 // in this transaction
	var changed []int64
	err = r.store.Update(r.ctx, func(tx transcript.Tx) error {
		did, changed, r.after = 0, nil, last
		allow, err := allowed(r.ctx, tx)
		if err != nil {
			return err
		}
		for _, d := range batch {
			old, err := tx.Exchange(r.ctx, d.Exchange.ID)
			if errors.Is(err, transcript.ErrNotFound) { // removed meanwhile
				continue
			}
			if err != nil {
				return err
			}
			some, err := r.one(tx, old, d, allow)
			if err != nil {
				return fmt.Errorf("x%d: %w", old.N, err)
			}
			did++
			changed = append(changed, some...)
		}
		return tx.SetNote(reindexNote, r.note())
	})
	if err != nil {
		r.after = before
		return false, err
	}
	for _, n := range changed {
		r.changed[n] = true
	}
	r.did.Exchanges += did
	r.did.Changed = int64(len(r.changed))
	return true, nil
}

// allowed says what cannot be derived again once exchanges were removed.
func allowed(ctx context.Context, r transcript.Reader) (lenience, error) {
	pruned, err := r.Pruned(ctx)
	return lenience{choice: pruned, removed: pruned}, err
}

// decode reads the next exchanges, outside any transaction. last is the number
// of the last of them, 0 if there are no more.
func (r *reindexer) decode() (batch []*decode.Decoded, last int64, err error) {
	var bytes int64
	for listed, err := range r.store.Exchanges(r.ctx, transcript.Filter{After: r.after, Limit: reindexGroup, Oldest: true}) {
		if errors.Is(err, transcript.ErrDamaged) {
			r.did.Unreadable++
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		last = listed.N
		d, err := r.decoder.Reread(r.ctx, r.store, listed.ID)
		switch {
		case errors.Is(err, transcript.ErrDamaged):
			r.did.Unreadable++
			continue
		case errors.Is(err, transcript.ErrNotFound), errors.Is(err, decode.ErrOmitted): // removed meanwhile, or nothing to read
			continue
		case err != nil:
			return nil, 0, err
		}
		batch = append(batch, d)
		if bytes += listed.Request.Bytes + listed.Response.Bytes; bytes >= reindexBytes {
			break
		}
	}
	for e, err := range r.store.Exchanges(r.ctx, transcript.Filter{Limit: 1}) {
		if err == nil {
			r.newest = e.N
		}
	}
	return batch, last, r.ctx.Err()
}

// one derives an exchange again and links those with pending links to it again. It
// returns the numbers of those that changed.
func (r *reindexer) one(tx transcript.Tx, old *transcript.Exchange, d *decode.Decoded, allow lenience) (changed []int64, err error) {
	dr, err := rederiveAsOf(r.ctx, tx, old, d, 0, allow)
	if err != nil {
		return nil, err
	}
	if is, err := dr.apply(r.ctx, tx); err != nil {
		return nil, err
	} else if is {
		changed = append(changed, old.N)
	}
	relinked, err := RelinkPending(r.ctx, tx, d)
	for _, e := range relinked {
		changed = append(changed, e.N)
	}
	return changed, err
}

// apply writes what comes out otherwise than it is stored, and tells whether
// anything did.
func (d *draft) apply(ctx context.Context, tx transcript.Tx) (bool, error) {
	old := d.old
	unnoted, err := d.unnoted(ctx, tx)
	if err != nil {
		return false, err
	}
	for _, c := range unnoted {
		if err := tx.PutHint(c.Value, old.ID, c.At); err != nil {
			return false, err
		}
	}
	changed, err := d.differences(ctx, tx)
	if err != nil || len(changed) == 0 {
		return len(unnoted) > 0, err
	}
	if d.needsRun {
		run, err := tx.NewRun(old.StartedAt)
		if err != nil {
			return false, err
		}
		d.exchange.Link.Run = run.ID
	}
	for _, name := range d.names {
		if err := tx.BindRun(name, d.exchange.Link.Run); err != nil {
			return false, err
		}
	}
	if d.newAgent != nil {
		d.newAgent.Run = d.exchange.Link.Run
		if err := tx.PutAgent(d.newAgent); err != nil {
			return false, err
		}
		d.exchange.Link.Agent = d.newAgent.ID
	}
	if d.parentCall != nil {
		if err := tx.SetParentCall(d.exchange.Link.Agent, *d.parentCall); err != nil {
			return false, err
		}
	}
	for _, id := range d.aside {
		if err := tx.SetSide(id); err != nil {
			return false, err
		}
	}
	return true, tx.PutDerived(d.exchange, d.calls, d.introduced)
}

// finish ends it, unless exchanges came meanwhile.
func (r *reindexer) finish() (more bool, err error) {
	err = r.store.Update(r.ctx, func(tx transcript.Tx) error {
		more = false
		for e, err := range tx.Exchanges(r.ctx, transcript.Filter{After: r.after, Limit: 1, Oldest: true}) {
			if err == nil {
				more = e.N > r.after
			}
		}
		if more {
			return nil
		}
		return tx.SetNote(reindexNote, "")
	})
	return more, err
}
