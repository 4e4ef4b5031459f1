package transcript

import "time"

// Dialect names one provider API. Vendors that speak another's API share its
// dialect.
type Dialect string

// The dialects that are known. An exchange of dialect Unknown is recorded,
// forwarded and shown raw.
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
	Rebuilt  Grade = "rebuilt"   // put together from what a program kept: enough to send it again
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

// Exchange is one HTTP request and its response. The first group of fields is
// what the wire showed and never changes; the second is derived from it and
// can be derived again.
type Exchange struct {
	ID        string    // UUID v7, given by the recorder
	N         int64     // its number in this database, from 1; shown as xN
	StartedAt time.Time // zero: nobody knows, as of an import whose file does not say
	EndedAt   time.Time // zero while it is in progress, and if nobody knows
	Upstream  string    // the configured name of the upstream
	Method    string
	URL       string // the URL that was called, credentials redacted
	Status    int    // 0 when there was no answer
	Outcome   Outcome
	Lossy     bool    // bytes passed that could not be recorded
	Error     *Error  // what the transport or the provider said, if it failed
	Seen      *Ending // how the transport saw the end, where Outcome and Error cannot tell it any more
	Request   Message
	Response  Message
	Timing    Timing
	Imported  Grade // what it is worth if another program's file brought it; "" if it was recorded

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

// BeganAfter tells whether an exchange is known to have begun after another one.
func (e *Exchange) BeganAfter(other *Exchange) bool {
	return !e.StartedAt.IsZero() && !other.StartedAt.IsZero() && e.StartedAt.After(other.StartedAt)
}

// Between is the time from one moment to another, not less than none; nil if one of
// them is not known.
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
	Chunks          []Chunk // arrival of the pieces; response only
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
	FirstToken time.Duration // first piece of content of a stream
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

// Ending is how the transport saw an exchange end, before its answer was read:
// an error inside a 200 is a failure that only the answer tells of.
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

// Link says which exchange this one continues. Parent is empty where nothing
// was found, and names nothing where it was removed since.
type Link struct {
	Run      string // id of the run
	Labelled bool   // the exchange came with the label of its run
	Agent    string // id of the agent, "" for a side call
	Step     int    // which step of its agent, from 1; 0 for a side call
	Attempt  int    // which attempt at the step, from 1
	Side     bool   // a call beside the agents: a title, a probe, a token count …
	Parent   string // id of the exchange that this one goes on from
	By       string // the kind of evidence: one of the By constants, "" for none
	Evidence string // in words, e.g. "12 items of x34's history and output"
	Shared   int    // how many items of the input the parent's history already held
	InLen    int    // chain items in the full history up to and including the input
	OutLen   int    // InLen and the chain items of the output
	InNode   Node   // history up to the input
	OutNode  Node   // history including the output
	// LooseNode is OutNode made of keys without call ids.
	NodeWithoutIDs Node
	Settings       Settings // system prompt and tools
	Change         Change   // what is otherwise than in the exchange before
	Replay         bool     // a take sent it; Reader.Outlines alone tells
	AsOf           int64    // number of the latest exchange that was known when the link was made; 0 for the exchange itself
}

// The kinds of evidence, strongest first. The first three belong to a history
// that only the provider holds: the request leaves it out.
const (
	ByResponse       = "previous_response_id" // the request names the answer that it goes on from
	ByConversation   = "conversation"         // it names a conversation
	ByReference      = "item_reference"       // it names an item of the answer
	ByUser           = "user"                 // a user said so (Override)
	ByTake           = "take"                 // a take sent it, which says where it left the original
	ByRetrieve       = "retrieve"             // it asks again for an answer: a poll, a resumed stream
	ByHistory        = "history"              // its input begins with the parent's history and output
	ByChoice         = "choice"               // the same with another of several choices than the first
	ByKeysWithoutIDs = "ids"                  // the same but for call ids
	ByCall           = "call"                 // it repeats a call of the parent, though the history before differs
	ByText           = "text"                 // it repeats the final text of the parent, though the history before differs
	ByCompaction     = "compaction"           // its history was replaced by a summary that the parent made
	ByHandoff        = "handoff"              // its first message holds the parent's final text; the agent is another
	ByAttempt        = "attempt"              // it asks what a request asked that failed
	BySession        = "session"              // the client names the session or agent
	ByPrompt         = "prompt"               // its first message is what a call passed on
	ByTime           = "time"                 // a side call of the only run that its client had under way
	ByLabel          = "label"                // recorder run's label
)

// ServerHeld tells whether a link is to a history that the provider holds and the
// request leaves out.
func (l *Link) ServerHeld() bool {
	return l.Parent != "" && (l.By == ByResponse || l.By == ByConversation || l.By == ByReference)
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
