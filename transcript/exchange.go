package transcript

import "time"

// Dialect names one provider API. Vendors that speak another's API share its
// dialect.
type Dialect string

// The known dialects. An exchange of dialect Unknown is recorded, forwarded and
// shown raw.
const (
	Chat      Dialect = "chat"      // OpenAI Chat Completions
	Responses Dialect = "responses" // OpenAI Responses
	Messages  Dialect = "messages"  // Anthropic Messages
	Unknown   Dialect = "unknown"
)

// Grade says what an imported exchange is worth.
type Grade string

// The grades of imported exchanges, best first.
const (
	Exact    Grade = "exact"     // the bytes that went over the wire
	Rebuilt  Grade = "rebuilt"   // rebuilt from what a program kept: enough to send it again
	ViewOnly Grade = "view only" // the same with parts missing, such as system prompt or tools
)

// Outcome says how an exchange ended.
type Outcome string

// The outcomes of an exchange.
const (
	OK               Outcome = "ok"
	HTTPError        Outcome = "http_error"        // the status is 4xx or 5xx
	StreamError      Outcome = "stream_error"      // an error event after a 2xx status
	UpstreamReset    Outcome = "upstream_reset"    // no answer, or one that broke off
	ClientDisconnect Outcome = "client_disconnect" // the client hung up before the end
	RecorderCrashed  Outcome = "recorder_crashed"  // found cut in a spool
	RecorderStopped  Outcome = "recorder_stopped"  // cut by our own shutdown
	InProgress       Outcome = "in_progress"
)

// Exchange is one HTTP request and its response. The first group of fields is what
// the wire showed and never changes. The second is derived from it and can be
// derived again.
type Exchange struct {
	ID              string    // UUID v7, given by the recorder
	N               int64     // its number in this database, from 1; shown as xN
	StartedAt       time.Time // zero if unknown, as in an import whose file does not say
	EndedAt         time.Time // zero while it is in progress, and if unknown
	Upstream        string    // the configured name of the upstream
	Method          string
	URL             string // the URL that was called, credentials redacted
	Status          int    // 0 when there was no answer
	Outcome         Outcome
	Lossy           bool    // part of it could not be recorded
	Error           *Error  // what the transport or the provider said, if it failed
	TransportEnding *Ending // how the transport saw the end, if Outcome and Error say something else
	Request         Message
	Response        Message
	Timing          Timing
	Imported        Grade // of an import; "" if it was recorded

	Dialect       Dialect
	Stream        bool // the answer was an event stream
	Complete      bool // the answer's own end was seen
	Model         string
	ResponseModel string
	ResponseID    string
	FinishReason  string
	Usage         *Usage
	Preview       string // the start of the last user text, on one line
	Calls         int    // tool calls in the answer that a client must run
	Tools         int    // tools that the request declares
	Results       int    // tool results in the request that the history before did not hold
	Warnings      []string
	Link          Link
}

// BeganAfter reports whether an exchange is known to have begun after another one.
func (e *Exchange) BeganAfter(other *Exchange) bool {
	return !e.StartedAt.IsZero() && !other.StartedAt.IsZero() && e.StartedAt.After(other.StartedAt)
}

// Between returns the time from one moment to another, at least 0; nil if one of
// them is unknown.
func Between(from, to time.Time) *time.Duration {
	if from.IsZero() || to.IsZero() {
		return nil
	}
	d := max(0, to.Sub(from))
	return &d
}

// Message is one side of an exchange. Bytes, SHA256 and Chunks are those of
// the body as it went over the wire, before any content encoding is undone.
type Message struct {
	Headers         map[string][]string // credentials redacted
	Bytes           int64
	SHA256          string
	ContentEncoding string
	DecodeError     string // why the body could not be decoded; empty if it could
	Omitted         string // "images", "bodies" or "secrets", or several: what a user chose to leave out of Body
	Body            BodyID
	Chunks          []Chunk // when the bytes arrived; response only
}

// Chunk says that the body from Offset on arrived At after the exchange began.
// Stores keep At to the microsecond.
type Chunk struct {
	Offset int64
	At     time.Duration
}

// Timing is measured from the start of the exchange. Zero means not seen.
type Timing struct {
	FirstByte  time.Duration // response header
	FirstToken time.Duration // first content of a stream
	Duration   time.Duration
	Events     int // SSE events in the response
}

// Error is a failure in the provider's own words, or in the recorder's when
// there was no answer.
type Error struct {
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Ending is how the transport saw an exchange end, before the answer was read: only
// the answer tells of an error inside a 200.
type Ending struct {
	Outcome Outcome `json:"outcome"`
	Error   *Error  `json:"error,omitempty"`
}

// Usage counts tokens. InputTotal counts every prompt token, cached ones
// included, whatever the provider's own convention; Output includes reasoning.
type Usage struct {
	InputTotal    int64 `json:"input_total"`
	InputUncached int64 `json:"input_uncached"`
	CacheRead     int64 `json:"cache_read"`
	CacheWrite    int64 `json:"cache_write"`
	// CacheWrite1h is how much of CacheWrite is kept for an hour, which costs more;
	// nil: not known.
	CacheWrite1h *int64 `json:"cache_write_1h,omitempty"`
	Output       int64  `json:"output"`
	Reasoning    int64  `json:"reasoning"`
	Total        int64  `json:"total"`
	Complete     bool   `json:"complete"` // false: the stream was cut, the figures are lower bounds
}

// Filter narrows a listing. The zero Filter selects all exchanges.
type Filter struct {
	Run     string
	Dialect Dialect
	Outcome Outcome
	Model   string    // part of the asked or answered model's name
	Since   time.Time // only exchanges that began then or later
	After   int64     // only exchanges whose N is greater
	Before  int64     // only exchanges whose N is less; 0 for no bound
	Limit   int       // 0 for no limit
	Oldest  bool      // oldest first instead of newest first
}
