package store

import (
	"crypto/sha256"

	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/store/segment"
	"github.com/retake-debugger/retake/transcript"
)

// What lookup finds. The numbers are part of the keys in the file.
const (
	findSegment        = 1   // by its bytes: a segment id
	findOutNode        = 2   // by the node after its output: an exchange's number
	findInNode         = 3   // by the node of its input: an exchange's number
	findResponseID     = 4   // an exchange's number
	findCall           = 5   // by the key of its item: a call's id
	findNodeWithoutIDs = 6   // by the node after its output without call ids, if that is another: an exchange's number
	findText           = 100 // by what it says: of search_text.same alone
)

// lookupTables hold the entries, the newest in the first.
var lookupTables = [...]string{"lookup_new", "lookup_recent", "lookup"}

// lookupMost is how many entries may lie in each table but the last: as many as
// one page holds, and as some forty hold.
var lookupMost = [...]int64{200, 8192}

// lookup finds rows by values that are spread like hashes. In an index of each
// of them every new row would change a page of its own, and a commit writes
// whole pages; so new entries of all kinds go to a table of one page, from time
// to time together, in order, into one of a few pages, and from there into the
// large one.
//
// An entry leads from 8 bytes of a hash to a number. It proves nothing: what it
// leads to is compared with what was looked for. The hash is salted, so that no
// client can make entries collide.
type lookup struct {
	st         *statements
	salt       []byte
	pending    map[int64][]int64 // of this transaction, by key, oldest first
	count      int               // of pending
	segmentKey int64             // of the bytes that FindSegments was asked for last
}

func (l *lookup) load(salt []byte) {
	l.salt, l.count = salt, 0
	clear(l.pending)
}

// key returns the key of a value.
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

// ofExchange returns the keys by which an exchange is found.
func (l *lookup) ofExchange(e *transcript.Exchange) []lookupKey {
	var keys []lookupKey
	add := func(kind byte, value []byte) { keys = append(keys, lookupKey{kind, l.key(kind, value)}) }
	if n := e.Link.OutNode; !n.IsZero() {
		add(findOutNode, n[:])
	}
	if n := e.Link.InNode; !n.IsZero() {
		add(findInNode, n[:])
	}
	if n := e.Link.NodeWithoutIDs; !n.IsZero() && n != e.Link.OutNode {
		add(findNodeWithoutIDs, n[:])
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

// remove deletes an entry, and counts it out of what the tables hold.
func (l *lookup) remove(key, target int64, held *lookupCounts) (changed bool, err error) {
	if i := slices.Index(l.pending[key], target); i >= 0 {
		l.pending[key] = slices.Delete(l.pending[key], i, i+1)
		l.count--
	}
	for n, table := range lookupTables {
		res, err := l.st.exec("DELETE FROM "+table+" WHERE key = ? AND target = ?", key, target)
		if err != nil {
			return changed, fmt.Errorf("delete lookup: %w", err)
		}
		gone, err := res.RowsAffected()
		if err != nil {
			return changed, fmt.Errorf("delete lookup: %w", err)
		}
		if n < len(held) && gone > 0 {
			held[n], changed = held[n]-gone, true
		}
	}
	return changed, nil
}

// lookupCounts are how many entries lie in each table but the last.
type lookupCounts [len(lookupTables) - 1]int64

var (
	// selectSome nearly always returns everything: few keys have many targets.
	selectSome = unionOfLookups("SELECT target FROM %s WHERE key = ?1") + " LIMIT " + strconv.Itoa(some)

	// selectNewest costs more than twice as much.
	selectNewest = unionOfLookups("SELECT target FROM (SELECT target FROM %s WHERE key = ?1 AND target < ?2 ORDER BY target DESC LIMIT ?3)")

	// selectLacks reports whether an entry is in no table. Entries move from one to
	// the next, so all are asked at once.
	selectLacks = "SELECT NOT EXISTS (" + unionOfLookups("SELECT 1 FROM %s WHERE key = ?1 AND target = ?2") + ")"
)

const some = 32

func unionOfLookups(query string) string {
	var all []string
	for _, table := range lookupTables {
		all = append(all, fmt.Sprintf(query, table))
	}
	return strings.Join(all, " UNION ALL ")
}

// targets returns what a key leads to below a bound, the highest first: all, or at
// most limit.
func (l *lookup) targets(key, below int64, limit int) (found []int64, all bool, err error) {
	take := func(target int64) { found = append(found, target) }
	err = l.st.numbers(selectSome, []any{key}, take)
	if all = len(found) < some; !all && err == nil {
		found = found[:0]
		err = l.st.numbers(selectNewest, []any{key, below, limit}, take)
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

// insertLookups store up to 1, 2, 4 … entries at once, in each table but the last.
var insertLookups = func() (all [len(lookupMost)][6]string) {
	for table := range all {
		for i := range all[table] {
			all[table][i] = "INSERT OR IGNORE INTO " + lookupTables[table] + " (key, target) VALUES (?, ?)" + strings.Repeat(", (?, ?)", 1<<i-1)
		}
	}
	return all
}()

// flush writes the pending entries. held is how many the tables hold, and then
// how many they hold with these.
func (l *lookup) flush(held *lookupCounts) error {
	entries := make([][2]int64, 0, l.count)
	for key, targets := range l.pending {
		for _, target := range targets {
			entries = append(entries, [2]int64{key, target})
		}
	}
	slices.SortFunc(entries, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
	into := 0
	if n := int64(len(entries)); held[0]+n > lookupMost[0] {
		if err := l.pass(0, held); err != nil {
			return err
		}
		if n > lookupMost[0] {
			into = 1
		}
	}
	if err := l.insert(into, entries); err != nil {
		return err
	}
	held[into] += int64(len(entries))
	if held[1] < lookupMost[1] {
		return nil
	}
	return l.pass(1, held)
}

func (l *lookup) insert(table int, entries [][2]int64) error {
	args := make([]any, 0, 2*len(entries))
	for _, e := range entries {
		args = append(args, e[0], e[1])
	}
	for i := len(insertLookups[table]) - 1; len(args) > 0; i-- {
		for size := 2 << i; len(args) >= size; args = args[size:] {
			if err := l.st.run(insertLookups[table][i], args[:size]...); err != nil {
				return fmt.Errorf("store lookups: %w", err)
			}
		}
	}
	return nil
}

// pass moves all entries of a table to the next one.
func (l *lookup) pass(table int, held *lookupCounts) error {
	for _, query := range []string{
		"INSERT OR IGNORE INTO " + lookupTables[table+1] + " SELECT key, target FROM " + lookupTables[table] + " ORDER BY key, target",
		"DELETE FROM " + lookupTables[table],
	} {
		if _, err := l.st.exec(query); err != nil {
			return fmt.Errorf("merge lookups: %w", err)
		}
	}
	if table+1 < len(held) {
		held[table+1] += held[table]
	}
	held[table] = 0
	return nil
}

// FindSegments calls f for the ids that segments with these bytes may have.
func (l *lookup) FindSegments(data []byte, f func(segment.ID) bool) error {
	l.segmentKey = l.key(findSegment, data)
	return l.walk(l.segmentKey, noBound, 4, func(target int64) (bool, error) { return f(segment.ID(target)), nil })
}

// AddSegment makes the segment that was just not found be found.
func (l *lookup) AddSegment(_ []byte, id segment.ID) { l.add(l.segmentKey, int64(id)) }
