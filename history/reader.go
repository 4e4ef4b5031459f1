package history

import (
	"context"
	"iter"
	"sync"

	"github.com/retake-debugger/retake/transcript"
)

// Reader reads the exchanges of a run. Requests resend their history: one that is
// stored in segments is read segment by segment, and a segment that was read before is
// not read again. Only Answer may be called by several goroutines at once.
type Reader struct {
	ctx    context.Context
	store  transcript.Reader
	arrays arrays
	parts  map[partKey]*part
	met    map[transcript.BodyID]bool  // segments that were read
	long   map[transcript.BodyID][]int // of how many segments elements are that begin with one
	whole  []*part                     // those that hold their items
	kept   int                         // bytes of these items
	most   int                         // how many of them are kept
	recent []*Request                  // read last, newest last
	wholes int                         // of them, that were read whole
	set    readSettings
	ahead  func() (fetched, bool) // segments that are read before they are asked for
	cutter *cutter                // cuts items; nil if that is not wanted

	mu         sync.Mutex
	answers    map[string]*transcript.Turn // by exchange
	answerSize int                         // bytes that they came from
}

const (
	keptItems    = 16 << 20
	keptRequests = 32
	keptWhole    = 4 // of them, that were read whole
)

// NewReader returns a reader of the exchanges in r.
func NewReader(ctx context.Context, r transcript.Reader) *Reader {
	return &Reader{ctx: ctx, store: r, arrays: largeArrays(), parts: map[partKey]*part{}, met: map[transcript.BodyID]bool{}, long: map[transcript.BodyID][]int{},
		most: keptItems, answers: map[string]*transcript.Turn{}}
}

// NewCuttingReader returns a reader whose Cut and CutItems return the first text bytes
// of each text. It remembers whole items that were read from at most kept bytes.
func NewCuttingReader(ctx context.Context, r transcript.Reader, text, kept int) *Reader {
	q := NewReader(ctx, r)
	q.cutter, q.most = newCutter(text), kept
	return q
}

// Answer decodes the answer of an exchange. The caller must not change it.
func (q *Reader) Answer(e *transcript.Exchange) (*transcript.Turn, error) {
	q.mu.Lock()
	turn := q.answers[e.ID]
	q.mu.Unlock()
	if turn != nil {
		return turn, nil
	}
	body, err := Available(Body(q.ctx, q.store, &e.Response))
	if err != nil {
		return nil, err
	}
	turn = Bodies{Response: body}.Decode(e)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.answerSize += len(body); q.answerSize > keptItems {
		clear(q.answers)
		q.answerSize = len(body)
	}
	q.answers[e.ID] = turn
	return turn, nil
}

// Answered is an exchange with its answer, or why there is none.
type Answered struct {
	Exchange *transcript.Exchange
	Turn     *transcript.Turn
	Err      error
}

// Answers reads the answers of exchanges in order, some before they are asked for.
func (q *Reader) Answers(exchanges iter.Seq[*transcript.Exchange]) iter.Seq[Answered] {
	return Ahead(MaxAhead, func(yield func(Answered) bool) {
		for e := range exchanges {
			turn, err := q.Answer(e)
			if !yield(Answered{e, turn, err}) {
				return
			}
		}
	})
}
