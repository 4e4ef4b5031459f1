package transcript

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// ErrNotFound says that nothing is stored under that id or reference.
var ErrNotFound = errors.New("not found")

// ErrDamaged says that what is stored of one exchange cannot be read. Others can.
var ErrDamaged = errors.New("damaged in the database")

var errTrailing = errors.New("more than one JSON value")

// BodyID names a stored body. 0 is the empty body.
type BodyID int64

// Capture is one exchange as a recorder caught it, not yet decoded. Its
// credentials are redacted already.
type Capture struct {
	ID             string
	StartedAt      time.Time // zero if nobody knows
	EndedAt        time.Time // zero while it is in progress, and if nobody knows
	Label          string    // names the run it belongs to, "" if nobody said
	Imported       Grade     // "" if it was recorded
	Upstream       string
	Method         string
	URL            string
	RequestHeader  map[string][]string
	ResponseHeader map[string][]string
	Status         int
	Outcome        Outcome // as the transport saw it: OK, UpstreamReset, ClientDisconnect, RecorderCrashed, RecorderStopped, InProgress
	Error          *Error
	Lossy          bool
	FirstByte      time.Duration
	Chunks         []Chunk
	Request        CapturedBody
	Response       CapturedBody
	// What was left out of the bodies before they got here; nil: nothing.
	RequestLeft, ResponseLeft *Omission
}

// Omission says of a body that it is not what went over the wire, by choice.
type Omission struct {
	What   string // as Message.Omitted
	Bytes  int64  // of the wire body
	SHA256 string // of the wire body, hex
}

// Segment is one piece of a body. Same, if not nil, stands for its bytes: two pieces
// of one length with the same Same are equal, and need not be compared.
type Segment struct {
	Bytes []byte
	Same  any
}

// CapturedBody gives the wire bytes of one side, as often as asked for.
type CapturedBody interface {
	Size() int64
	Open() (io.ReadCloser, error)
}

// Filter narrows a listing. The zero Filter takes everything.
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

// Agent is a chain of steps, each of which extends the history of the one
// before.
type Agent struct {
	ID         string
	Run        string // id of the run
	Key        string // what the client calls it, "" if it does not say
	Main       bool   // else another agent's tool call started it
	ParentCall *Place // the call that started it, if that is known
	Evidence   string // why it is what it is, in words
}

// Reader reads what is stored. Its results belong to the caller.
type Reader interface {
	SearchReader
	RunReader
	// Exchange gives the exchange with that id. ErrNotFound if there is none.
	Exchange(ctx context.Context, id string) (*Exchange, error)
	// ExchangeN gives the exchange with that number. ErrNotFound if there is none.
	ExchangeN(ctx context.Context, n int64) (*Exchange, error)
	// FindExchanges gives the ids that begin with part or, if none does, that hold
	// it, at most limit of them, newest first.
	FindExchanges(ctx context.Context, part string, limit int) ([]string, error)
	// Exchanges lists exchanges, newest first unless the filter says otherwise.
	// An error that wraps ErrDamaged is about one exchange and the sequence goes
	// on; it ends after any other. Listings, Children and ByOutNode among them,
	// may leave out Response.Chunks; Exchange and ExchangeN do not.
	Exchanges(ctx context.Context, f Filter) iter.Seq2[*Exchange, error]
	// Children lists the exchanges that continue the one with that id, oldest first.
	Children(ctx context.Context, id string) ([]*Exchange, error)
	// Line gives the ids of the exchange with that id and of those whose history
	// it continues, one after the other, oldest first; nothing if there is none.
	Line(ctx context.Context, id string) ([]string, error)
	// Body opens the exact wire bytes of a body. ErrNotFound if there is none.
	Body(ctx context.Context, id BodyID) (io.ReadCloser, error)
	// Calls lists the recorded calls of these exchanges in order.
	Calls(ctx context.Context, exchanges []string) ([]CallRow, error)
	// Brought lists the results that the request of that exchange brought: the
	// calls that they answer, each with these results alone.
	IntroducedResults(ctx context.Context, exchange string) ([]CallRow, error)
	// Agent gives the agent with that id. ErrNotFound if there is none.
	Agent(ctx context.Context, id string) (*Agent, error)
	// Agents lists the agents of a run, oldest first.
	Agents(ctx context.Context, run string) ([]Agent, error)
	// Takes lists the takes that start from the exchange with that id or sent
	// it, oldest first; all takes if id is "". It leaves out their Results.
	Takes(ctx context.Context, id string) ([]Take, error)
	// TakeN gives the take with that number. ErrNotFound if there is none.
	TakeN(ctx context.Context, n int64) (*Take, error)
	// AsOf gives what was stored when exchange n came: of its own methods, none
	// tells of exchange n or a later one. Of a Tx it sees the Tx's own writes.
	AsOf(n int64) Past
	// Noted lists the clues that an exchange was noted with, in any order.
	Hints(ctx context.Context, exchange string) ([]Hint, error)
	// Pruned tells whether exchanges were ever removed.
	Pruned(ctx context.Context) (bool, error)
	// Note gives what SetNote kept under that name, "" if nothing.
	Note(ctx context.Context, name string) (string, error)
}

// Past is a Reader that finds what an exchange may continue.
type Past interface {
	Reader
	OverrideReader
	TakePlacer
	// ByOutNode gives the exchanges whose history and output is that node,
	// newest first, at most limit.
	ByOutNode(n Node, limit int) ([]*Exchange, error)
	// ByLooseNode gives the exchanges whose history and output is that node made
	// of keys without call ids (Link.LooseNode), newest first, at most limit.
	ByNodeWithoutIDs(n Node, limit int) ([]*Exchange, error)
	// ByInNode gives the exchanges whose full input is that node, newest first, at most limit.
	ByInNode(n Node, limit int) ([]*Exchange, error)
	// Callers gives the exchanges whose answers hold a call with that key,
	// newest first, at most limit.
	Callers(k Key, limit int) ([]*Exchange, error)
	// ByResponseID gives the newest exchange with that response id. ErrNotFound if there is none.
	ByResponseID(id string) (*Exchange, error)
	// Extended tells whether some exchange continues the one with that id.
	Extended(id string) (bool, error)
	// RunByKey gives the run that a client's own name of a session or agent
	// belongs to, whenever that was learnt; ErrNotFound if none does.
	RunByKey(key string) (*Run, error)
	// AgentByKey gives the agent of a run that a client calls by that name,
	// whenever that was learnt. ErrNotFound if there is none.
	AgentByKey(run, key string) (*Agent, error)
	// Clues gives the exchanges that were noted with that clue, and where in
	// their answers, newest first, at most limit.
	ByHint(value Key, limit int) ([]Place, error)
	// AnyClue tells whether Clues gives anything for one of the values.
	AnyByHint(values []Key) (bool, error)
	// LastStep gives the exchange that is the last of an agent. ErrNotFound if it
	// has none.
	LastStep(agent string) (*Exchange, error)
	// Firsts gives the exchanges of a run that continue nothing, newest first, at
	// most limit.
	Firsts(run string, limit int) ([]*Exchange, error)
}

// CallRow is one tool call of an answer and the result that a later request
// brought, kept when they arrive so that nobody reads a whole run to join them.
type CallRow struct {
	Exchange string // whose answer holds the call
	Key      Key    // of the call's item
	At       string // JSON pointer in the response
	CallID   string
	Name     string
	Results  []ResultRow
}

// ResultRow is a result of a CallRow.
type ResultRow struct {
	Exchange  string // whose request brought it first
	At        string // JSON pointer in the request
	By        string
	LatencyMS *float64 // nil: when one of the two was is not known
	IsError   bool
}

// Hint is by what an exchange may be found: the hash of something that it brought,
// and where in its answer that is, "" for all of it.
type Hint struct {
	Value Key
	At    string
}

// Tx is one transaction of the only writer. It sees its own writes.
type Tx interface {
	Past
	SearchWriter
	MarkWriter
	// HasExchange tells whether the exchange is stored already.
	HasExchange(id string) (bool, error)
	// PutBody stores the pieces of a body in order; equal pieces are stored
	// once. The pieces may be reused after each step of the sequence.
	PutBody(pieces iter.Seq2[[]byte, error]) (BodyID, error)
	// PutPieces is PutBody for pieces of which it is known which are the same.
	PutSegments(pieces iter.Seq2[Segment, error]) (BodyID, error)
	// PutExchange stores a new exchange and sets its N.
	PutExchange(e *Exchange) error
	// RunByLabel gives the run of that label, making it if need be.
	RunByLabel(label string, at time.Time) (*Run, error)
	// NewRun makes a run.
	NewRun(at time.Time) (*Run, error)
	// BindRun makes a client's own name mean that run, unless it means one that
	// is there.
	BindRun(key, run string) error
	// PutAgent stores a new agent and gives it an id if it has none.
	PutAgent(a *Agent) error
	// SetParentCall says which call started a stored agent.
	SetParentCall(agent string, call Place) error
	// SetSide makes a stored exchange a side call: it leaves its agent.
	SetSide(exchange string) error
	// PutClue notes a Clue of an exchange.
	PutHint(value Key, exchange, at string) error
	// PutCall stores one call of an answer.
	PutCall(c CallRow) error
	// PutResult stores a result for the call at that place in that exchange.
	PutResult(exchange, at string, r ResultRow) error
	// PutTake stores a take and sets its N. One that has an N is stored already:
	// it gets the steps and results that have come to it, the exchanges of results that
	// waited for one, and how it ended. The exchanges of steps need not be stored yet.
	PutTake(t *Take) error
	// PutDerived stores anew what was derived of a stored exchange: its derived
	// fields, Outcome and Error, the calls of its answer and, by the calls that
	// they answer, the results that its request brought. Bodies, numbers and what
	// the wire showed stay. A call that stays the same keeps its results; a result
	// for a call that is not stored is left out.
	PutDerived(e *Exchange, calls, brought []CallRow) error
	// SetNote keeps a small text under a name; "" removes it.
	SetNote(name, text string) error
}

// Store keeps exchanges. Update runs f in one transaction and returns nil only
// after what it wrote is durable; if f fails nothing is written.
type Store interface {
	Reader
	Update(ctx context.Context, f func(Tx) error) error
}
