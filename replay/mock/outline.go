package mock

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

type hash [16]byte

// outline is what a request is compared by.
type outline struct {
	key      hash   // with masks
	exact    hash   // without
	path     string // of the URL
	prefixes []hash // with masks: of the members outside the history and of its first n elements
}

// outliner makes outlines. History that is sent again is masked once.
type outliner struct {
	masks *masker
	clean *redact.Redactor
	seed  maphash.Seed

	mu   sync.Mutex
	seen map[seenKey]seenHash
}

type seenKey struct {
	piece, cwd uint64
	length     int
}

type seenHash struct{ masked, exact hash }

// seenLimit bounds how many pieces are remembered.
const seenLimit = 1 << 20

func newOutliner(masks []Mask) *outliner {
	return &outliner{masks: newMasker(masks), clean: redact.New(nil), seed: maphash.MakeSeed(), seen: map[seenKey]seenHash{}}
}

// of returns the outline of a request; body is without content encoding.
func (o *outliner) of(d transcript.Dialect, method, target string, body []byte) *outline {
	where, query := o.where(target)
	out := &outline{path: where}
	m := o.masks.in(body)
	skeleton, arrays := cutUp(d, body)
	rest := o.piece(m, skeleton)
	head := sum([]byte(method), []byte(path.Base(where)), []byte(query), rest.masked[:])
	masked, exact := head, sum([]byte(method), []byte(path.Base(where)), []byte(query), rest.exact[:])
	// What comes last in the names' order decides least: the history.
	names := slices.SortedFunc(maps.Keys(arrays), func(a, b string) int { return strings.Compare(rank(a), rank(b)) })
	history := names[max(len(names)-1, 0):]
	for _, name := range names {
		masked, exact = sum(masked[:], []byte(name)), sum(exact[:], []byte(name))
		for _, element := range arrays[name] {
			h := o.piece(m, element)
			masked, exact = sum(masked[:], h.masked[:]), sum(exact[:], h.exact[:])
		}
	}
	if len(history) == 1 {
		// Without the settings, so that a request is near although they differ.
		chain := sum([]byte(path.Base(where)), []byte(history[0]))
		for _, element := range arrays[history[0]] {
			h := o.piece(m, element)
			chain = sum(chain[:], h.masked[:])
			out.prefixes = append(out.prefixes, chain)
		}
	}
	out.key, out.exact = masked, exact
	return out
}

func rank(name string) string {
	if dialect.IsHistory(name) {
		return "~" + name
	}
	return name
}

// piece hashes a JSON value.
func (o *outliner) piece(m *masker, raw []byte) seenHash {
	key := seenKey{maphash.Bytes(o.seed, raw), maphash.String(o.seed, m.cwd), len(raw)}
	o.mu.Lock()
	h, ok := o.seen[key]
	o.mu.Unlock()
	if ok {
		return h
	}
	h = seenHash{sum(m.mask(raw)), sum(canonical(raw))}
	o.mu.Lock()
	if len(o.seen) < seenLimit {
		o.seen[key] = h
	}
	o.mu.Unlock()
	return h
}

// where splits a target into its path and its query, in order, without keys.
func (o *outliner) where(target string) (where, query string) {
	u, err := url.Parse(o.clean.URL(target))
	if err != nil {
		return target, ""
	}
	values := u.Query()
	for name, list := range values {
		if strings.Contains(strings.Join(list, ""), redact.Mark) {
			values.Del(name)
		}
	}
	return u.EscapedPath(), values.Encode()
}

// samePath reports whether two paths lead to the same API: base URLs may bring a path
// of their own.
func samePath(a, b string) bool { return strings.HasSuffix(a, b) || strings.HasSuffix(b, a) }

// cutUp returns the elements of a body's large arrays, and the body without them.
func cutUp(d transcript.Dialect, body []byte) (skeleton []byte, arrays map[string][][]byte) {
	ends := dialect.Elements(d, body)
	cuts := dialect.Split(d, body)
	if len(ends) == 0 || len(cuts) < 2 {
		return body, nil
	}
	type span struct {
		name string
		end  int
	}
	var spans []span
	for name, list := range ends {
		for _, end := range list {
			spans = append(spans, span{name, end})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.end - b.end })
	arrays, from := map[string][][]byte{}, 0
	for _, s := range spans {
		i, found := slices.BinarySearch(cuts, s.end)
		if !found || i == 0 {
			return body, nil
		}
		begin := cuts[i-1]
		skeleton = append(skeleton, body[from:begin]...)
		arrays[s.name] = append(arrays[s.name], bytes.TrimLeft(body[begin:s.end], ", \t\r\n"))
		from = s.end
	}
	return append(skeleton, body[from:]...), arrays
}

func sum(parts ...[]byte) (out hash) {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write(p)
	}
	copy(out[:], h.Sum(nil))
	return out
}
