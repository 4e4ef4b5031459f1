package mock

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// The codes of errors that a mock answers.
const (
	noMatch   = "replay_no_match"
	exhausted = "replay_exhausted"
)

// missStatus is the status of an answer to a request that cannot be served. SDKs
// send again what got 408, 409, 429 or 5xx; Codex also other statuses that it does
// not expect, but not this one.
const missStatus = http.StatusBadRequest

// change is where a request differs from a recording. null: that side has nothing
// there.
type change struct {
	At       string          `json:"at"`
	Recorded json.RawMessage `json:"recorded"`
	Live     json.RawMessage `json:"live"`
}

// What is told of differences is bounded.
const (
	maxChanges = 20
	maxShown   = 300 // bytes of a value
)

// miss is why a request cannot be served.
type miss struct {
	Type    string   `json:"type"`
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Nearest string   `json:"nearest,omitempty"`
	Diff    []change `json:"diff,omitempty"`
	More    int      `json:"more,omitempty"` // differences beyond Diff
}

// explain holds a request against a recording.
func (t *Recordings) explain(ctx context.Context, o *outline, r *recording, live []byte) *miss {
	m := &miss{Type: "invalid_request_error", Code: noMatch, Message: "no recording matches this request"}
	if r == nil {
		m.Message += "; there is none of this API"
		return m
	}
	m.Nearest = ref(r)
	m.Message += "; nearest is " + m.Nearest
	recorded, err := history.Body(ctx, t.reader, &r.Request)
	if err != nil {
		return m
	}
	if list, ok := analysis.DiffJSON(recorded, live); ok {
		was, now := t.outliner.masks.in(recorded), t.outliner.masks.in(live)
		for _, d := range list {
			if t.masked(d, was, now) {
				continue
			}
			if len(m.Diff) == maxChanges {
				m.More++
				continue
			}
			a, b := shorten(d.Was, d.Now)
			m.Diff = append(m.Diff, change{d.At, a, b})
		}
	}
	if len(m.Diff) > 0 {
		m.Message += fmt.Sprintf(", which differs at %s: recorded %s, live %s", m.Diff[0].At, m.Diff[0].Recorded, m.Diff[0].Live)
	}
	if n := len(m.Diff) + m.More - 1; n > 0 {
		m.Message += fmt.Sprintf(", and at %d more", n)
	}
	return m
}

// masked reports whether a difference is one that does not count.
func (t *Recordings) masked(d analysis.Difference, was, now *masker) bool {
	for _, name := range strings.Split(d.At, "/") {
		if was.members[name] {
			return true
		}
	}
	a, b := string(was.mask(orNull(d.Was))), string(now.mask(orNull(d.Now)))
	last := d.At[strings.LastIndexByte(d.At, '/')+1:]
	if exempt[last] {
		a, b = string(d.Was), string(d.Now)
	}
	return a == b || last == "stream" && quiet(d.Was) && quiet(d.Now)
}

func quiet(v json.RawMessage) bool { return v == nil || string(v) == "false" || string(v) == "null" }

func orNull(v json.RawMessage) []byte {
	if v == nil {
		return []byte("null")
	}
	return v
}

// shorten shows of two long values what is around their first difference. What is cut
// is shown as a text.
func shorten(a, b json.RawMessage) (was, now json.RawMessage) {
	if len(a) <= maxShown && len(b) <= maxShown {
		return a, b
	}
	x, y := string(a), string(b)
	var s, u string
	if json.Unmarshal(a, &s) == nil && json.Unmarshal(b, &u) == nil {
		x, y = s, u
	}
	from := 0
	for from < len(x) && from < len(y) && x[from] == y[from] {
		from++
	}
	from = max(from-maxShown/4, 0)
	cut := func(raw json.RawMessage, s string) json.RawMessage {
		if raw == nil {
			return nil
		}
		begin, end := min(from, len(s)), min(from+maxShown, len(s))
		for begin > 0 && begin < len(s) && !utf8.RuneStart(s[begin]) {
			begin--
		}
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end--
		}
		text := s[begin:end]
		if begin > 0 {
			text = "…" + text
		}
		if end < len(s) {
			text += "…"
		}
		out, err := json.Marshal(text)
		if err != nil {
			return nil
		}
		return out
	}
	return cut(a, x), cut(b, y)
}

// write answers with the error in the shape of the dialect's own.
func (m *miss) write(w http.ResponseWriter, d transcript.Dialect) {
	text, err := json.Marshal(m)
	if err != nil {
		text = []byte(`{"code":` + strconv.Quote(m.Code) + `}`)
	}
	text = dialect.Error(d, text)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Should-Retry", "false") // the SDKs of OpenAI and Anthropic heed it
	w.WriteHeader(missStatus)
	w.Write(append(text, '\n'))
}
