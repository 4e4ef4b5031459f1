package transcript

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// ErrNotFound means that nothing is stored under that id or reference.
var ErrNotFound = errors.New("not found")

// ErrDamaged means that what is stored of one exchange cannot be read. Others can.
var ErrDamaged = errors.New("damaged in the database")

// BodyID names a stored body. 0 is the empty body.
type BodyID int64

// Store keeps exchanges. A Store is made of roles: code that needs only some of them
// asks only for those.
type Store interface {
	Reader
	// Update runs f in a transaction. It returns nil only after what f wrote is
	// durable. If f returns an error, nothing is written.
	Update(ctx context.Context, f func(Tx) error) error
}

// Reader reads what is stored. Its results belong to the caller.
type Reader interface {
	ExchangeReader
	BodyReader
	CallReader
	RunReader
	AgentReader
	TakeReader
	NoteReader
	SearchReader
	// Before returns what was stored before exchange n: the methods that Past adds
	// to Reader see neither exchange n nor a later one. Of a Tx it sees the Tx's
	// own writes.
	Before(n int64) Past
}

// Past finds what an exchange may continue, in what was stored before it.
type Past interface {
	Reader
	HistoryFinder
	MemberFinder
	OverrideReader
	TakePlacer
}

// Tx is a transaction of the only writer. It sees its own writes.
type Tx interface {
	Past
	BodyWriter
	ExchangeWriter
	RunWriter
	TakeWriter
	MarkWriter
	NoteWriter
	SearchWriter
}

// ExchangeReader reads and lists exchanges.
type ExchangeReader interface {
	// Exchange returns the exchange with that id. ErrNotFound if there is none.
	Exchange(ctx context.Context, id string) (*Exchange, error)
	// ExchangeN returns the exchange with that number. ErrNotFound if there is none.
	ExchangeN(ctx context.Context, n int64) (*Exchange, error)
	// FindExchanges returns the ids that begin with part or, if none does, those
	// that contain it, newest first, at most limit.
	FindExchanges(ctx context.Context, part string, limit int) ([]string, error)
	// Exchanges lists exchanges, newest first unless the filter says otherwise.
	// An error that wraps ErrDamaged is about one exchange, and the sequence goes
	// on; it ends after any other error. Methods that return several exchanges may
	// leave out Response.Chunks; Exchange and ExchangeN do not.
	Exchanges(ctx context.Context, f Filter) iter.Seq2[*Exchange, error]
	// Summaries returns the exchanges with these numbers as far as a list of
	// search results shows them: without what belongs to the request alone, times,
	// usage and links, except for their run and whether a take sent them. It leaves
	// out those that are missing or damaged.
	Summaries(ctx context.Context, numbers []int64) ([]*Exchange, error)
	// Children lists the exchanges that continue the one with that id, oldest first.
	Children(ctx context.Context, id string) ([]*Exchange, error)
	// Line returns the ids of the exchanges whose history the exchange with that
	// id continues, oldest first, and its own id last; nothing if there is none.
	Line(ctx context.Context, id string) ([]string, error)
	// Hints returns the hints that PutHint stored for an exchange, in any order.
	Hints(ctx context.Context, exchange string) ([]Hint, error)
}

// BodyReader reads bodies.
type BodyReader interface {
	// Body opens the exact wire bytes of a body. ErrNotFound if there is none.
	Body(ctx context.Context, id BodyID) (io.ReadCloser, error)
	// Excerpt opens a body or a segment for a search. It reads no more than needed
	// of what is stored together, so that damage after that may go unnoticed: use
	// Body for what is shown as recorded.
	Excerpt(ctx context.Context, id BodyID) (io.ReadCloser, error)
	// Segments lists the segments of a body: bodies that together are this one. A
	// body of one segment is its own.
	Segments(ctx context.Context, id BodyID) ([]BodyID, error)
	// SegmentsAfter lists the segments of a body after those that it begins with
	// like another one, and returns how many those are. Of bodies that resend each
	// other it reads only what is new.
	SegmentsAfter(ctx context.Context, id, other BodyID) (shared int, rest []BodyID, err error)
}

// CallReader reads tool calls and their results.
type CallReader interface {
	// Calls lists the calls of these exchanges in order.
	Calls(ctx context.Context, exchanges []string) ([]CallRow, error)
	// IntroducedResults lists the results that the request of that exchange
	// introduced: the calls that they answer, each with these results alone.
	IntroducedResults(ctx context.Context, exchange string) ([]CallRow, error)
}

// RunReader reads and lists runs.
type RunReader interface {
	// Run returns the run with that id. ErrNotFound if there is none.
	Run(ctx context.Context, id string) (*Run, error)
	// RunN returns the run with that number. ErrNotFound if there is none.
	RunN(ctx context.Context, n int64) (*Run, error)
	// FindRuns returns the ids that contain part, newest first, at most limit.
	FindRuns(ctx context.Context, part string, limit int) ([]string, error)
	// RunNames returns those of these runs that exist, with their names: of a RunSum
	// only Run, Marks and Topic.
	RunNames(ctx context.Context, ids []string) ([]RunSum, error)
	// Runs lists the runs that have exchanges, newest first. If some cannot be read
	// it returns the others and an error that wraps ErrDamaged.
	Runs(ctx context.Context, f RunFilter) ([]RunSum, error)
	// RunUses returns the usage to be paid for runs: of all exchanges except replays
	// and those that cost nothing (refused, or asking no model). It is summed over
	// exchanges that are alike in all that prices depend on.
	RunUses(ctx context.Context, runs []int64) ([]RunUse, error)
	// Marks returns what users said of a run, nothing if there is no such run.
	Marks(ctx context.Context, run string) (*Marks, error)
}

// AgentReader reads agents.
type AgentReader interface {
	// Agent returns the agent with that id. ErrNotFound if there is none.
	Agent(ctx context.Context, id string) (*Agent, error)
	// Agents lists the agents of a run, oldest first.
	Agents(ctx context.Context, run string) ([]Agent, error)
}

// TakeReader reads takes.
type TakeReader interface {
	// Takes lists the takes that start from the exchange with that id or sent it,
	// oldest first, without their Results; all takes if id is "".
	Takes(ctx context.Context, id string) ([]Take, error)
	// TakeN returns the take with that number. ErrNotFound if there is none.
	TakeN(ctx context.Context, n int64) (*Take, error)
}

// NoteReader reads what is known of the store itself.
type NoteReader interface {
	// Note returns the text that SetNote stored under that name, "" if none.
	Note(ctx context.Context, name string) (string, error)
	// Pruned reports whether exchanges were ever removed.
	Pruned(ctx context.Context) (bool, error)
}

// HistoryFinder finds exchanges by their history and by what is in them. Its lists
// are newest first and have at most limit entries.
type HistoryFinder interface {
	// ByOutNode returns the exchanges whose history and output is that node.
	ByOutNode(n Node, limit int) ([]*Exchange, error)
	// ByNodeWithoutIDs returns the exchanges whose history and output is that node
	// of keys without call ids (Link.NodeWithoutIDs).
	ByNodeWithoutIDs(n Node, limit int) ([]*Exchange, error)
	// ByInNode returns the exchanges whose full input is that node.
	ByInNode(n Node, limit int) ([]*Exchange, error)
	// Callers returns the exchanges whose answers contain a call with that key.
	Callers(k Key, limit int) ([]*Exchange, error)
	// ByResponseID returns the newest exchange with that response id. ErrNotFound
	// if there is none.
	ByResponseID(id string) (*Exchange, error)
	// ByHint returns the exchanges that PutHint stored that hint for, and where in
	// their answers it is.
	ByHint(value Key, limit int) ([]Place, error)
	// AnyByHint reports whether ByHint returns anything for one of the values.
	AnyByHint(values []Key) (bool, error)
	// Extended reports whether an exchange continues the one with that id.
	Extended(id string) (bool, error)
}

// MemberFinder finds runs and agents, and the exchanges at their ends.
type MemberFinder interface {
	// RunByKey returns the run of a client's own name for a session or agent,
	// whenever that name was bound. ErrNotFound if there is none.
	RunByKey(key string) (*Run, error)
	// AgentByKey returns the agent of a run that a client calls by that name,
	// whenever it was stored. ErrNotFound if there is none.
	AgentByKey(run, key string) (*Agent, error)
	// LastStep returns the last exchange of an agent. ErrNotFound if it has none.
	LastStep(agent string) (*Exchange, error)
	// Firsts returns the exchanges of a run that continue nothing, newest first, at
	// most limit.
	Firsts(run string, limit int) ([]*Exchange, error)
}

// OverrideReader reads what users said of links. Ingest asks it about every
// exchange, so it must cost next to nothing where nothing was said.
type OverrideReader interface {
	// Override returns the last word on the exchange with that id. ErrNotFound if
	// there is none.
	Override(exchange string) (*Override, error)
}

// TakePlacer finds the takes that sent exchanges. Ingest asks it about every
// exchange, so it must cost next to nothing.
type TakePlacer interface {
	// TakePlace returns the place of the exchange with that id. ErrNotFound if no
	// take sent it.
	TakePlace(exchange string) (*TakePlace, error)
}

// BodyWriter stores bodies.
type BodyWriter interface {
	// PutBody stores the parts of a body in order; equal parts are stored once. A
	// part may be reused after its step of the sequence.
	PutBody(parts iter.Seq2[[]byte, error]) (BodyID, error)
	// PutSegments is PutBody for parts of which it is known which are the same.
	PutSegments(parts iter.Seq2[Segment, error]) (BodyID, error)
}

// ExchangeWriter stores exchanges and what is derived of them.
type ExchangeWriter interface {
	// HasExchange reports whether the exchange is stored.
	HasExchange(id string) (bool, error)
	// PutExchange stores a new exchange and sets its N.
	PutExchange(e *Exchange) error
	// PutDerived replaces what was derived of a stored exchange: its derived
	// fields, Outcome and Error, the calls of its answer and, by the calls that they
	// answer, the results that its request introduced. Bodies, numbers and what the
	// wire showed stay. A call that stays the same keeps its results; a result for a
	// call that is not stored is left out.
	PutDerived(e *Exchange, calls, introduced []CallRow) error
	// SetSide makes a stored exchange a side call: it leaves its agent.
	SetSide(exchange string) error
	// PutHint stores a Hint of an exchange.
	PutHint(value Key, exchange, at string) error
	// PutCall stores a call of an answer.
	PutCall(c CallRow) error
	// PutResult stores a result for the call at that place in that exchange.
	PutResult(exchange, at string, r ResultRow) error
}

// RunWriter stores runs and agents.
type RunWriter interface {
	// RunByLabel returns the run of that label and makes it if need be.
	RunByLabel(label string, at time.Time) (*Run, error)
	// NewRun makes a run.
	NewRun(at time.Time) (*Run, error)
	// BindRun binds a client's own name to that run, unless it is bound to a run
	// that exists.
	BindRun(key, run string) error
	// PutAgent stores a new agent and gives it an id if it has none.
	PutAgent(a *Agent) error
	// SetParentCall sets the call that started a stored agent.
	SetParentCall(agent string, call Place) error
}

// TakeWriter stores takes.
type TakeWriter interface {
	// PutTake stores a take and sets its N. A take that has an N is stored already:
	// PutTake then adds its new steps and results, sets the exchanges of results that
	// waited for one, and how it ended. The exchanges of steps need not be stored.
	PutTake(t *Take) error
}

// MarkWriter stores what users say.
type MarkWriter interface {
	// PutMarks replaces what users said of a run. ErrNotFound if there is none.
	PutMarks(run string, m *Marks) error
	// PutOverride stores a user's word on an exchange, in place of an earlier one.
	// ErrNotFound if there is no such exchange.
	PutOverride(o *Override) error
	// DropOverride removes what was said of an exchange and reports whether
	// anything was.
	DropOverride(exchange string) (bool, error)
}

// NoteWriter stores notes.
type NoteWriter interface {
	// SetNote stores a small text under a name; "" removes it.
	SetNote(name, text string) error
}
