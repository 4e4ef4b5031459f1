package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
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

// loosePack is a pack that will be merged. What this process has packed itself
// is kept as it was until then: less than fullPack in all.
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
		return id, l.insert(packRow(id.number(), []int{len(data)}, data, l.codec.quick))
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
	first := l.next - int64(len(l.lengths))
	total := int64(len(l.data))
	for _, p := range l.loose {
		total += p.bytes
	}
	if total < fullPack && len(l.loose) < maxLoose {
		l.loose = append(l.loose, loosePack{first, int64(len(l.lengths)), int64(len(l.data)), slices.Clone(l.lengths), bytes.Clone(l.data)})
		return l.write(packRow(first, l.lengths, l.data, l.codec.quick))
	}
	compress := l.codec.tight
	if len(l.data) >= fullPack/2 { // a transaction this large is one of many: no time to lose
		compress = l.codec.quick
	}
	lengths, data := l.lengths, l.data
	if len(l.loose) > 0 {
		looseLengths, looseData, err := l.takeLoose()
		if err != nil {
			return err
		}
		first = l.loose[0].first
		lengths, data = append(looseLengths, lengths...), append(looseData, data...)
	}
	l.loose = nil
	if len(data) < fullPack {
		l.loose = []loosePack{{first: first, count: int64(len(lengths)), bytes: int64(len(data))}}
	}
	return l.write(packRow(first, lengths, data, compress))
}

// takeLoose gives what the loose packs hold and deletes them.
func (l *lane) takeLoose() (lengths []int, data []byte, err error) {
	table := packTables[l.number]
	var count, size int64
	for _, loose := range l.loose {
		count, size = count+loose.count, size+loose.bytes
	}
	lengths = make([]int, 0, count+int64(len(l.lengths)))
	data = make([]byte, 0, size+int64(len(l.data)))
	for _, loose := range l.loose {
		if loose.lengths != nil {
			lengths, data = append(lengths, loose.lengths...), append(data, loose.data...)
			continue
		}
		p, err := readPack(context.Background(), l.st, l.codec, idIn(l.number, loose.first))
		if err != nil {
			return nil, nil, fmt.Errorf("merge packs: %w", err)
		}
		start := 0
		for _, end := range p.ends {
			lengths = append(lengths, end-start)
			start = end
		}
		data = append(data, p.data...)
	}
	_, err = l.st.exec("DELETE FROM "+table+" WHERE first BETWEEN ? AND ?", l.loose[0].first, l.loose[len(l.loose)-1].first)
	if err != nil {
		return nil, nil, fmt.Errorf("merge packs: %w", err)
	}
	return lengths, data, nil
}

func (l *lane) write(row packedRow) error {
	if err := l.insert(row); err != nil {
		return err
	}
	l.data, l.lengths = l.data[:0], l.lengths[:0]
	return nil
}

func (l *lane) insert(row packedRow) error {
	l.written += int64(len(row.data))
	query := "INSERT INTO " + packTables[l.number] + " (first, count, bytes, lengths, data) VALUES (?, ?, ?, ?, ?)"
	if _, err := l.st.exec(query, row.first, row.count, row.bytes, row.lengths, row.data); err != nil {
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
