package store

import (
	"context"
	"database/sql"
	"fmt"
)

const (
	largeSegment = 64 << 10  // from here on a segment has a pack to itself
	fullPack     = 128 << 10 // loose packs are merged when together they hold this much
	pendingLimit = 256 << 10 // new segments are written out when they hold this much
	maxLoose     = 64        // or when there are so many of them
)

// lane writes new segments of one sequence. It belongs to the writer.
type lane struct {
	number  int
	codec   *codec
	st      *statements
	next    int64  // number of the next segment
	data    []byte // the pending segments: those that are in no pack yet
	lengths []int
	loose   []loosePack // the last packs, without gaps up to the pending segments
	written int64       // bytes of packs in this transaction
}

// loosePack is a pack that will be merged. It is not compressed: to compress few
// bytes costs as much as many. What this process has packed itself is kept as it
// was until then: less than fullPack in all.
type loosePack struct {
	first, count, bytes int64
	lengths             []int // nil if it is to be read
	data                []byte
}

// load prepares the lane for a transaction in which next is the next number.
func (l *lane) load(next int64) error {
	l.data, l.lengths, l.written = l.data[:0], l.lengths[:0], 0
	if l.next == next {
		return nil
	}
	l.next, l.loose = next, nil
	query := "SELECT first, count, bytes FROM " + packTables[l.number] + " ORDER BY first DESC LIMIT ?"
	want := next
	err := l.st.rows(context.Background(), query, []any{maxLoose}, func(row *sql.Rows) error {
		var p loosePack
		if err := row.Scan(&p.first, &p.count, &p.bytes); err != nil {
			return err
		}
		if p.first+p.count != want || p.bytes >= largeSegment {
			return errEnough
		}
		want = p.first
		l.loose = append([]loosePack{p}, l.loose...)
		return nil
	})
	if err != nil && err != errEnough {
		return fmt.Errorf("read loose packs: %w", err)
	}
	return nil
}

// forget makes the next load read everything again.
func (l *lane) forget() { l.next, l.loose = -1, nil }

// add gives a segment its id and keeps a copy of it until flush.
func (l *lane) add(data []byte) (segmentID, error) {
	large := len(data) >= largeSegment
	if large || len(l.data)+len(data) > pendingLimit {
		if err := l.flush(); err != nil {
			return 0, err
		}
	}
	id := idIn(l.number, l.next)
	if large {
		l.next++
		l.loose = nil
		return id, l.insert(packRow(id.number(), []int{len(data)}, data, l.codec.whole))
	}
	l.next++
	l.data = append(l.data, data...)
	l.lengths = append(l.lengths, len(data))
	return id, nil
}

// flush writes the pending segments as a pack: a loose one if they are few, or
// together with the loose ones before.
func (l *lane) flush() error {
	if len(l.lengths) == 0 {
		return nil
	}
	total := int64(len(l.data))
	for _, p := range l.loose {
		total += p.bytes
	}
	if total < fullPack && len(l.loose) < maxLoose {
		return l.merge(len(l.loose), stored)
	}
	return l.merge(0, l.codec.inBlocks)
}

// settle compresses the loose packs that this process has left, as one.
func (l *lane) settle() error {
	if n := len(l.loose); n == 0 || l.loose[n-1].lengths == nil {
		return nil
	}
	return l.merge(0, l.codec.inBlocks)
}

// merge writes the pending segments as one pack with the loose ones from the n-th on.
func (l *lane) merge(n int, compress func([]byte) []byte) error {
	p, err := l.takeLoose(n)
	if err != nil {
		return fmt.Errorf("merge packs: %w", err)
	}
	if err := l.insert(packRow(p.first, p.lengths, p.data, compress)); err != nil {
		return err
	}
	if l.loose = l.loose[:n]; n > 0 || p.bytes < fullPack {
		l.loose = append(l.loose, p)
	}
	l.data, l.lengths = l.data[:0], l.lengths[:0]
	return nil
}

// takeLoose deletes the loose packs from the n-th on and gives what they hold,
// with the pending segments behind it.
func (l *lane) takeLoose(n int) (all loosePack, err error) {
	table, taken := packTables[l.number], l.loose[n:]
	all = loosePack{first: l.next - int64(len(l.lengths)), count: int64(len(l.lengths)), bytes: int64(len(l.data))}
	for _, p := range taken {
		all.count, all.bytes = all.count+p.count, all.bytes+p.bytes
	}
	all.lengths, all.data = make([]int, 0, all.count), make([]byte, 0, all.bytes)
	for _, loose := range taken {
		if loose.lengths != nil {
			all.lengths, all.data = append(all.lengths, loose.lengths...), append(all.data, loose.data...)
			continue
		}
		p, err := readPack(context.Background(), l.st, l.codec, idIn(l.number, loose.first))
		if err != nil {
			return all, err
		}
		start := 0
		for _, end := range p.ends {
			all.lengths = append(all.lengths, end-start)
			start = end
		}
		all.data = append(all.data, p.data...)
	}
	if len(taken) > 0 {
		all.first = taken[0].first
		_, err = l.st.exec("DELETE FROM "+table+" WHERE first BETWEEN ? AND ?", all.first, taken[len(taken)-1].first)
	}
	all.lengths, all.data = append(all.lengths, l.lengths...), append(all.data, l.data...)
	return all, err
}

func (l *lane) insert(row packedRow) error {
	l.written += int64(len(row.data))
	query := "INSERT INTO " + packTables[l.number] + " (first, count, bytes, lengths, data) VALUES (?, ?, ?, ?, ?)"
	if err := l.st.run(query, row.first, row.count, row.bytes, row.lengths, row.data); err != nil {
		return fmt.Errorf("store pack: %w", err)
	}
	return nil
}

// pending gives the pending segments as a pack if id is one of them.
func (l *lane) pending(id segmentID) *pack {
	first := l.next - int64(len(l.lengths))
	if id.lane() != l.number || id.number() < first || id.number() >= l.next {
		return nil
	}
	p := &pack{lane: l.number, first: first, data: l.data}
	end := 0
	for _, n := range l.lengths {
		end += n
		p.ends = append(p.ends, end)
	}
	return p
}
