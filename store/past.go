package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// past is what was stored before an exchange came: its own methods see only
// exchanges with a lower number. It is for one goroutine.
type past struct {
	reader
	lookup *lookup
	last   *lastRows // of a transaction
	before int64
	usable func() error // of a transaction: it is not over
}

var _ transcript.Past = (*past)(nil)

// Before returns what was stored when exchange n came.
func (db *DB) Before(n int64) transcript.Past {
	return &past{reader: db.reader, lookup: &lookup{st: db.st}, before: n}
}

// Before returns what was stored when exchange n came, with the transaction's own
// writes.
func (p *past) Before(n int64) transcript.Past {
	at := *p
	at.before = n
	return &at
}

// check reports whether questions may be asked.
func (p *past) check() error {
	if p.usable == nil {
		return nil
	}
	return p.usable()
}

// Extended reports whether some exchange continues the one with that id.
func (p *past) Extended(id string) (bool, error) {
	if err := p.check(); err != nil {
		return false, err
	}
	return p.exists("SELECT 1 FROM exchange WHERE parent = ? AND n < ? LIMIT 1", packID(id), p.before)
}

func (p *past) exists(query string, args ...any) (bool, error) {
	found := false
	if err := p.st.numbers(query, args, func(int64) { found = true }); err != nil {
		return false, fmt.Errorf("look for exchange: %w", err)
	}
	return found, nil
}

// ByOutNode returns the exchanges whose history and output is that node, newest first.
func (p *past) ByOutNode(n transcript.Node, limit int) ([]*transcript.Exchange, error) {
	if n.IsZero() {
		return nil, p.check()
	}
	return p.find(findOutNode, n[:], limit, func(e *transcript.Exchange) bool { return e.Link.OutNode == n })
}

// ByInNode returns the exchanges whose full input is that node, newest first.
func (p *past) ByInNode(n transcript.Node, limit int) ([]*transcript.Exchange, error) {
	if n.IsZero() {
		return nil, p.check()
	}
	return p.find(findInNode, n[:], limit, func(e *transcript.Exchange) bool { return e.Link.InNode == n })
}

// ByNodeWithoutIDs returns the exchanges whose history and output is that node but for
// call ids, newest first.
func (p *past) ByNodeWithoutIDs(n transcript.Node, limit int) ([]*transcript.Exchange, error) {
	if n.IsZero() {
		return nil, p.check()
	}
	list, err := p.find(findNodeWithoutIDs, n[:], limit, func(e *transcript.Exchange) bool { return e.Link.NodeWithoutIDs == n })
	if err != nil {
		return nil, err
	}
	without, err := p.find(findOutNode, n[:], limit, func(e *transcript.Exchange) bool { return e.Link.OutNode == n && e.Link.NodeWithoutIDs == n })
	list = append(list, without...)
	slices.SortFunc(list, func(a, b *transcript.Exchange) int { return cmp.Compare(b.N, a.N) })
	return list[:min(limit, len(list))], err
}

// ByResponseID returns the newest exchange with that response id.
func (p *past) ByResponseID(id string) (*transcript.Exchange, error) {
	list, err := p.find(findResponseID, []byte(id), 1, func(e *transcript.Exchange) bool { return id != "" && e.ResponseID == id })
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("exchange with response id %s: %w", id, transcript.ErrNotFound)
	}
	return list[0], nil
}

// find returns the newest exchanges that a lookup leads to and that are what was
// looked for.
func (p *past) find(kind byte, value []byte, limit int, is func(*transcript.Exchange) bool) ([]*transcript.Exchange, error) {
	if err := p.ready(); err != nil || limit <= 0 {
		return nil, err
	}
	var list []*transcript.Exchange
	err := p.lookup.walk(p.lookup.key(kind, value), p.before, limit, func(n int64) (bool, error) {
		e, known := p.last.find(n)
		if !known {
			found, err := p.exchanges(context.Background(), selectListed+"WHERE e.n = ?", n)
			if err != nil || len(found) == 0 {
				return false, err
			}
			e = found[0]
		}
		if is(e) {
			list = append(list, e)
		}
		return len(list) == limit, nil
	})
	return list, err
}

// ready makes the lookup usable outside a transaction.
func (p *past) ready() error {
	if err := p.check(); err != nil || p.lookup.salt != nil {
		return err
	}
	if err := p.st.row(context.Background(), "SELECT salt FROM state", nil, &p.lookup.salt); err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	return nil
}

// Callers returns the exchanges whose answers hold a call with that key, newest
// first.
func (p *past) Callers(k transcript.Key, limit int) ([]*transcript.Exchange, error) {
	if err := p.ready(); err != nil || limit <= 0 {
		return nil, err
	}
	var list []*transcript.Exchange
	seen := map[string]bool{}
	err := p.lookup.walk(p.lookup.key(findCall, k[:]), noBound, limit, func(call int64) (bool, error) {
		found, err := p.exchanges(context.Background(),
			selectListed+"WHERE e.n = (SELECT n FROM pair WHERE n = ?1 AND kind = 0 AND call = ?2 AND key = ?3)", call>>callBits, call, k[:])
		if err == nil && len(found) == 1 && found[0].N < p.before && !seen[found[0].ID] {
			seen[found[0].ID] = true
			list = append(list, found[0])
		}
		return len(list) == limit, err
	})
	slices.SortFunc(list, func(a, b *transcript.Exchange) int { return cmp.Compare(b.N, a.N) })
	return list, err
}
