package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"

	"github.com/retake-debugger/retake/store/segment"
	"github.com/retake-debugger/retake/transcript"
)

// reachable is what exchanges hold: their bodies and header sets. What is not in it
// no exchange can reach.
type reachable struct {
	segment.Reachable
	headers segment.Bitset
	skip    segment.Bitset // numbers of exchanges that do not count
	last    int64          // number of the last exchange that was looked at
}

// holder is what a row of exchange holds.
type holder struct {
	n       int64
	bodies  [2]transcript.BodyID
	headers [2][]byte
}

// maxHeaderID bounds what is taken for the id of a header set: each differs in
// the names of its headers.
const maxHeaderID = 1 << 24

const (
	holderPage    = 2000
	selectHolders = "SELECT n, request_body, response_body, substr(request_headers, 1, 10), substr(response_headers, 1, 10) FROM exchange "
)

func holders(ctx context.Context, st *statements, query string, args ...any) ([]holder, error) {
	var list []holder
	err := st.rows(ctx, query, args, func(row *sql.Rows) error {
		var h holder
		err := row.Scan(&h.n, &h.bodies[0], &h.bodies[1], &h.headers[0], &h.headers[1])
		list = append(list, h)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read exchanges: %w", err)
	}
	return list, nil
}

// catchUp takes the exchanges that came since the last one it has looked at.
func (h *reachable) catchUp(ctx context.Context, r *reader, progress func(n int64)) error {
	for {
		list, err := holders(ctx, r.st, selectHolders+"WHERE n > ? ORDER BY n LIMIT ?", h.last, holderPage)
		if err != nil || len(list) == 0 {
			return err
		}
		if err := h.bound(ctx, r); err != nil {
			return err
		}
		for i := range list {
			if err := h.take(ctx, r, &list[i]); err != nil {
				return fmt.Errorf("read what x%d holds: %w", list[i].n, err)
			}
			h.last = list[i].n
		}
		if progress != nil {
			progress(h.last)
		}
	}
}

// bound reads how high numbers can be, after what is to be taken was read.
func (h *reachable) bound(ctx context.Context, r *reader) error {
	err := r.st.row(ctx, "SELECT body, part, whole FROM state", nil, &h.HighestBody, &h.Highest[segment.Parts], &h.Highest[segment.Wholes])
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	return nil
}

func (h *reachable) take(ctx context.Context, r *reader, e *holder) error {
	if h.skip.Has(e.n) {
		return nil
	}
	for i, body := range e.bodies {
		if err := h.Body(ctx, r.bodies, body); err != nil {
			return err
		}
		if set, n := binary.Uvarint(e.headers[i]); n > 0 && set < maxHeaderID {
			h.headers.Add(int64(set))
		}
	}
	return nil
}
