package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/retake-debugger/retake/store/varint"
)

var errHeaders = errors.New("stored headers are damaged")

// headerSet is the names of a message's headers, sorted, with the values of the
// first message that had exactly these names.
type headerSet struct {
	id     int64
	names  []string
	values [][]string
}

// maxHeaderSets bounds how many sets are kept in memory.
const maxHeaderSets = 4096

// headerSets remembers the sets of a connection, or of a pool.
type headerSets struct {
	mu      sync.Mutex
	byNames map[string]*headerSet // only sets that are committed or were made by this writer
	byID    map[int64]*headerSet
}

func newHeaderSets() *headerSets {
	h := &headerSets{}
	h.forget()
	return h
}

func (h *headerSets) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.byNames, h.byID = map[string]*headerSet{}, map[int64]*headerSet{}
}

func (h *headerSets) keep(s *headerSet) *headerSet {
	if len(h.byID) >= maxHeaderSets {
		h.byNames, h.byID = map[string]*headerSet{}, map[int64]*headerSet{}
	}
	h.byID[s.id] = s
	h.byNames[nameKey(s.names)] = s
	return s
}

func nameKey(names []string) string { return strings.Join(names, "\x00") }

// pack writes headers as the id of their set and the values that differ from
// the set's: for each the distance to the one before, then its list.
func (h *headerSets) pack(st *statements, headers map[string][]string) (any, error) {
	if headers == nil {
		return nil, nil
	}
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	sort.Strings(names)
	h.mu.Lock()
	defer h.mu.Unlock()
	set, err := h.ofNames(st, names, headers)
	if err != nil {
		return nil, fmt.Errorf("store header names: %w", err)
	}
	out := binary.AppendUvarint(make([]byte, 0, 64), uint64(set.id))
	last := 0
	for i, name := range names {
		values := headers[name]
		if slices.Equal(values, set.values[i]) {
			continue
		}
		out = binary.AppendUvarint(out, uint64(i-last))
		out = binary.AppendUvarint(out, uint64(len(values)))
		for _, v := range values {
			out = binary.AppendUvarint(out, uint64(len(v)))
			out = append(out, v...)
		}
		last = i
	}
	return out, nil
}

// ofNames finds the set of these names or stores a new one.
func (h *headerSets) ofNames(st *statements, names []string, headers map[string][]string) (*headerSet, error) {
	key := nameKey(names)
	if set := h.byNames[key]; set != nil {
		return set, nil
	}
	sum := sha256.Sum256([]byte(key))
	hash := int64(binary.LittleEndian.Uint64(sum[:]))
	found := []*headerSet{}
	err := st.rows(context.Background(), "SELECT id, data FROM header_set WHERE names_hash = ?", []any{hash}, func(r *sql.Rows) error {
		var id int64
		var data string
		if err := r.Scan(&id, &data); err != nil {
			return err
		}
		set, err := readHeaderSet(id, data)
		if err == nil && slices.Equal(set.names, names) {
			found = append(found, set)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return h.keep(found[0]), nil
	}
	set := &headerSet{names: names}
	for _, name := range names {
		set.values = append(set.values, slices.Clone(headers[name]))
	}
	data, err := set.marshal()
	if err != nil {
		return nil, err
	}
	res, err := st.exec("INSERT INTO header_set (names_hash, data) VALUES (?, ?)", hash, data)
	if err != nil {
		return nil, err
	}
	if set.id, err = res.LastInsertId(); err != nil {
		return nil, err
	}
	return h.keep(set), nil
}

// unpack is the reverse of pack. The result belongs to the caller.
func (h *headerSets) unpack(ctx context.Context, st *statements, packed []byte) (map[string][]string, error) {
	if packed == nil {
		return nil, nil
	}
	id, n := binary.Uvarint(packed)
	if n <= 0 {
		return nil, errHeaders
	}
	set, err := h.ofID(ctx, st, int64(id))
	if err != nil {
		return nil, err
	}
	headers := make(map[string][]string, len(set.names))
	for i, name := range set.names {
		headers[name] = slices.Clone(set.values[i])
	}
	return headers, set.change(headers, packed[n:])
}

// change puts the values in place that differ from the set's.
func (s *headerSet) change(headers map[string][]string, packed []byte) error {
	v := varint.Reader{B: packed}
	i := 0
	for len(v.B) > 0 && !v.Bad {
		i += int(v.Uint(uint64(len(s.names))))
		count := v.Uint(uint64(len(v.B)))
		values := make([]string, 0, min(count, 64))
		for range count {
			values = append(values, string(v.Bytes()))
		}
		if v.Bad || i >= len(s.names) {
			return errHeaders
		}
		headers[s.names[i]] = values
	}
	if v.Bad {
		return errHeaders
	}
	return nil
}

func (h *headerSets) ofID(ctx context.Context, st *statements, id int64) (*headerSet, error) {
	h.mu.Lock()
	set := h.byID[id]
	h.mu.Unlock()
	if set != nil {
		return set, nil
	}
	var data string
	if err := st.row(ctx, "SELECT data FROM header_set WHERE id = ?", []any{id}, &data); err != nil {
		return nil, fmt.Errorf("read header names: %w", err)
	}
	set, err := readHeaderSet(id, data)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.keep(set), nil
}

// marshal writes the set as a JSON array of [name, [value…]]. Bytes that are
// not UTF-8 are kept as Latin-1 (RFC 9110, section 5.5, calls them opaque), see
// readHeaderSet.
func (s *headerSet) marshal() (string, error) {
	rows := make([]any, len(s.names))
	for i, name := range s.names {
		values := make([]string, len(s.values[i]))
		for j, v := range s.values[i] {
			values[j] = latin1(v)
		}
		rows[i] = []any{latin1(name), values}
	}
	b, err := json.Marshal(rows)
	return string(b), err
}

func readHeaderSet(id int64, data string) (*headerSet, error) {
	var pairs [][2]json.RawMessage
	if err := json.Unmarshal([]byte(data), &pairs); err != nil {
		return nil, errors.Join(errHeaders, err)
	}
	set := &headerSet{id: id}
	for _, p := range pairs {
		var name string
		var values []string
		if json.Unmarshal(p[0], &name) != nil || json.Unmarshal(p[1], &values) != nil {
			return nil, errHeaders
		}
		for i := range values {
			values[i] = fromLatin1(values[i])
		}
		set.names = append(set.names, fromLatin1(name))
		set.values = append(set.values, values)
	}
	return set, nil
}

// latin1 reads each byte as one character, so that any bytes fit into JSON.
func latin1(s string) string {
	out := make([]rune, len(s))
	for i := 0; i < len(s); i++ {
		out[i] = rune(s[i])
	}
	return string(out)
}

func fromLatin1(s string) string {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		out = append(out, byte(r))
	}
	return string(out)
}
