package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// What lookup finds. The numbers are part of the keys in the file.
const (
	findSegment    = 1   // by its bytes: a segment id
	findOutNode    = 2   // by the node after its output: an exchange's number
	findInNode     = 3   // by the node of its input: an exchange's number
	findResponseID = 4   // an exchange's number
	findCall       = 5   // by the key of its item: a call's id
	findLooseNode  = 6   // by the node after its output without call ids, if that is another: an exchange's number
	findText       = 100 // by what it says: of search_text.same alone
)

// maxRecentLookups is how many entries may lie in lookup_recent.
const maxRecentLookups = 8192

// lookup finds rows by values that are spread like hashes. In an index of each
// of them every new row would change a page of its own, and a commit writes
// whole pages; so new entries of all kinds go to one small table, and from time
// to time together, in order, into the large one.
//
// An entry leads from 8 bytes of a hash to a number. It proves nothing: whoever
// follows it compares what it finds there. The hash is salted, so that nobody
// outside can make entries collide.
type lookup struct {
	st      *statements
	salt    []byte
	pending map[int64][]int64 // of this transaction, by key, oldest first
	count   int               // of pending
}

func (l *lookup) load(salt []byte) {
	l.salt, l.count = salt, 0
	clear(l.pending)
}

// key gives the key of a value.
func (l *lookup) key(kind byte, value []byte) int64 {
	h := sha256.New()
	h.Write(l.salt)
	h.Write([]byte{kind})
	h.Write(value)
	var sum [sha256.Size]byte
	return int64(binary.LittleEndian.Uint64(h.Sum(sum[:0])))
}

// lookupKey is a key with the kind that it is of.
type lookupKey struct {
	kind byte
	key  int64
}

// ofExchange gives the keys by which an exchange is found.
func (l *lookup) ofExchange(e *transcript.Exchange) []lookupKey {
	var keys []lookupKey
	add := func(kind byte, value []byte) { keys = append(keys, lookupKey{kind, l.key(kind, value)}) }
	if n := e.Link.OutNode; !n.IsZero() {
		add(findOutNode, n[:])
	}
	if n := e.Link.InNode; !n.IsZero() {
		add(findInNode, n[:])
	}
	if n := e.Link.LooseNode; !n.IsZero() && n != e.Link.OutNode {
		add(findLooseNode, n[:])
	}
	if e.ResponseID != "" {
		add(findResponseID, []byte(e.ResponseID))
	}
	return keys
}

func (l *lookup) add(key, target int64) {
	l.pending[key] = append(l.pending[key], target)
	l.count++
}

// remove deletes an entry. recent is how many of lookup_recent that were.
func (l *lookup) remove(key, target int64) (recent int64, err error) {
	if i := slices.Index(l.pending[key], target); i >= 0 {
		l.pending[key] = slices.Delete(l.pending[key], i, i+1)
		l.count--
	}
	if _, err := l.st.exec("DELETE FROM lookup WHERE key = ? AND target = ?", key, target); err != nil {
		return 0, fmt.Errorf("delete lookup: %w", err)
	}
	res, err := l.st.exec("DELETE FROM lookup_recent WHERE key = ? AND target = ?", key, target)
	if err != nil {
		return 0, fmt.Errorf("delete lookup: %w", err)
	}
	return res.RowsAffected()
}

const (
	// selectSome is what nearly always tells everything: few keys lead far.
	selectSome = "SELECT target FROM lookup_recent WHERE key = ?1 UNION ALL SELECT target FROM lookup WHERE key = ?1 LIMIT 32"
	some       = 32

	// selectNewest costs more than twice as much.
	selectNewest = `SELECT target FROM (SELECT target FROM lookup_recent WHERE key = ?1 AND target < ?2 ORDER BY target DESC LIMIT ?3)
		UNION ALL SELECT target FROM (SELECT target FROM lookup WHERE key = ?1 AND target < ?2 ORDER BY target DESC LIMIT ?3)`
)

// targets gives what a key leads to below a bound, the highest first: all, or at
// most limit.
func (l *lookup) targets(key, below int64, limit int) (found []int64, all bool, err error) {
	take := func(row *sql.Rows) error {
		var target int64
		err := row.Scan(&target)
		found = append(found, target)
		return err
	}
	err = l.st.rows(context.Background(), selectSome, []any{key}, take)
	if all = len(found) < some; !all && err == nil {
		found = found[:0]
		err = l.st.rows(context.Background(), selectNewest, []any{key, below, limit}, take)
	}
	if err != nil {
		return nil, false, fmt.Errorf("look up: %w", err)
	}
	found = append(found, l.pending[key]...)
	found = slices.DeleteFunc(found, func(target int64) bool { return target >= below })
	slices.Sort(found)
	found = slices.Compact(found)
	slices.Reverse(found)
	if !all {
		found = found[:min(limit, len(found))]
	}
	return found, all, nil
}

// noBound is above every target.
const noBound = math.MaxInt64

// walk calls take for what a key leads to below a bound, the highest first,
// until it has had enough.
func (l *lookup) walk(key, below int64, page int, take func(target int64) (enough bool, err error)) error {
	for {
		found, all, err := l.targets(key, below, page)
		if err != nil {
			return err
		}
		for _, target := range found {
			if enough, err := take(target); enough || err != nil {
				return err
			}
			below = target
		}
		if all || len(found) < page {
			return nil
		}
	}
}

// lookupRows is how many entries one statement stores.
const lookupRows = 32

var insertLookup = map[int]string{1: insertLookups(1), lookupRows: insertLookups(lookupRows)}

func insertLookups(rows int) string {
	return "INSERT OR IGNORE INTO lookup_recent (key, target) VALUES (?, ?)" + strings.Repeat(", (?, ?)", rows-1)
}

// flush writes the pending entries. stored is how many lookup_recent holds, and
// the result how many it holds then.
func (l *lookup) flush(stored int64) (int64, error) {
	entries := make([][2]int64, 0, l.count)
	for key, targets := range l.pending {
		for _, target := range targets {
			entries = append(entries, [2]int64{key, target})
		}
	}
	slices.SortFunc(entries, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
	stored += int64(len(entries))
	args := make([]any, 0, 2*lookupRows)
	for len(entries) > 0 {
		rows := 1
		if len(entries) >= lookupRows {
			rows = lookupRows
		}
		args = args[:0]
		for _, e := range entries[:rows] {
			args = append(args, e[0], e[1])
		}
		if _, err := l.st.exec(insertLookup[rows], args...); err != nil {
			return 0, fmt.Errorf("store lookups: %w", err)
		}
		entries = entries[rows:]
	}
	if stored < maxRecentLookups {
		return stored, nil
	}
	for _, query := range []string{
		"INSERT OR IGNORE INTO lookup SELECT key, target FROM lookup_recent ORDER BY key, target",
		"DELETE FROM lookup_recent",
	} {
		if _, err := l.st.exec(query); err != nil {
			return 0, fmt.Errorf("merge lookups: %w", err)
		}
	}
	return 0, nil
}
