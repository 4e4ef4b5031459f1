package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/store/segment"
	"github.com/retake-debugger/retake/transcript"
)

// gap is a lookup that is not there: what it is to find stays unfound, so that
// nothing is linked to it, or it is stored twice.
type gap struct {
	key, target int64
	text        string
}

// gaps looks for gaps. It has a lookup for its keys alone.
type gaps struct {
	r      *reader
	ctx    context.Context
	lookup lookup
}

func (r *reader) gaps(ctx context.Context) (*gaps, error) {
	g := &gaps{r: r, ctx: ctx}
	if err := r.st.row(ctx, "SELECT salt FROM state", nil, &g.lookup.salt); err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	return g, nil
}

// lacks reports whether an entry is not there.
func (g *gaps) lacks(key, target int64) (bool, error) {
	var lacks bool
	err := g.r.st.row(g.ctx, selectLacks, []any{key, target}, &lacks)
	return lacks, err
}

// unfound says for each kind of lookup what an exchange is not found by.
var unfound = map[byte]string{
	findOutNode: "the history after its output", findInNode: "the history before its output", findResponseID: "its response id",
	findNodeWithoutIDs: "the history after its output without call ids",
}

// exchange lists what the exchange, and the calls of its answer, are not found
// by.
func (g *gaps) exchange(e *transcript.Exchange) ([]gap, error) {
	var list []gap
	for _, k := range g.lookup.ofExchange(e) {
		list = append(list, gap{k.key, e.N, "not found by " + unfound[k.kind]})
	}
	err := g.r.st.rows(g.ctx, "SELECT call, key FROM pair WHERE n = ? AND kind = 0", []any{e.N}, func(row *sql.Rows) error {
		var id int64
		var key []byte
		err := row.Scan(&id, &key)
		list = append(list, gap{g.lookup.key(findCall, key), id, "not found by a call of its answer"})
		return err
	})
	if err != nil {
		return nil, err
	}
	return g.lacking(list)
}

// lacking keeps those that are not there.
func (g *gaps) lacking(list []gap) ([]gap, error) {
	left := list[:0]
	for _, l := range list {
		lacks, err := g.lacks(l.key, l.target)
		if err != nil {
			return nil, err
		}
		if lacks {
			left = append(left, l)
		}
	}
	return left, nil
}

const gapBatch = 1 << 16 // keys that are sorted before they are asked for

// segments lists the held segments that are not found by their bytes, so that
// these would be stored once more. Those that cannot be read are left out.
func (g *gaps) segments(codec *segment.Codec, reachable *reachable) ([]gap, error) {
	var missing, batch []gap
	ask := func() error {
		slices.SortFunc(batch, func(a, b gap) int { return cmp.Compare(a.key, b.key) })
		left, err := g.lacking(batch)
		missing, batch = append(missing, left...), batch[:0]
		return err
	}
	for stream := range packTables {
		err := segment.EachPack(g.ctx, segmentRows{g.r.st}, stream, func(size *segment.PackInfo) error {
			p, err := segment.ReadPack(g.ctx, segmentRows{g.r.st}, codec, segment.IDIn(stream, size.First))
			if err != nil || p.First != size.First { // damaged, or merged meanwhile
				return g.ctx.Err()
			}
			for n := p.First; n <= p.Last(); n++ {
				id := segment.IDIn(stream, n)
				if data, ok := p.Segment(id); ok && reachable.Segments[stream].Has(n) {
					batch = append(batch, gap{g.lookup.key(findSegment, data), int64(id), ""})
				}
			}
			if len(batch) < gapBatch {
				return nil
			}
			return ask()
		})
		if err != nil {
			return nil, err
		}
	}
	return missing, ask()
}

// lookups reports what an exchange is not found by.
func (v *verification) lookups(e *transcript.Exchange) {
	if v.gaps == nil {
		return
	}
	missing, err := v.gaps.exchange(e)
	if err == nil && len(missing) > 0 { // it may have been removed or derived again meanwhile
		if e, err = v.db.Exchange(v.ctx, e.ID); errors.Is(err, transcript.ErrNotFound) {
			return
		}
		if err == nil {
			missing, err = v.gaps.exchange(e)
		}
	}
	if err != nil {
		v.withoutGaps(err)
		return
	}
	for _, m := range missing {
		v.report(Problem{Exchange: e.ID, N: e.N, Part: "lookup", Text: m.text})
	}
}

// withoutGaps says once that the lookups cannot be read.
func (v *verification) withoutGaps(err error) {
	v.gaps = nil
	if v.ctx.Err() == nil {
		v.report(Problem{Part: "lookup", Text: err.Error()})
	}
}

// segmentLookups reports how many segments are not found by their bytes. What
// is removed meanwhile is not found any more, so that it looks twice.
func (v *verification) segmentLookups() {
	if v.gaps == nil {
		return
	}
	var missing []gap
	for range 2 {
		h := &reachable{}
		err := h.catchUp(v.ctx, &v.db.reader, nil)
		if isDamage(err) {
			return // it is not known what is held: that was told
		}
		if err == nil {
			missing, err = v.gaps.segments(v.db.codec, h)
		}
		if err != nil {
			v.withoutGaps(err)
			return
		}
		if len(missing) == 0 {
			return
		}
	}
	v.report(Problem{Part: "lookup", Text: fmt.Sprintf("%d pieces of bodies are not found by their bytes: they would be stored once more", len(missing))})
}

func isDamage(err error) bool { return err != nil && errors.Is(damaged(err), transcript.ErrDamaged) }
