package store

import (
	"context"
	"io"
	"iter"

	"github.com/retake-debugger/retake/transcript"
)

// Body opens the exact bytes of a body.
func (r *reader) Body(ctx context.Context, id transcript.BodyID) (io.ReadCloser, error) {
	return r.bodies.Open(ctx, id)
}

// Excerpt opens a body for a search.
func (r *reader) Excerpt(ctx context.Context, id transcript.BodyID) (io.ReadCloser, error) {
	return r.bodies.OpenExcerpt(ctx, id)
}

// Segments lists the segments of a body.
func (r *reader) Segments(ctx context.Context, id transcript.BodyID) ([]transcript.BodyID, error) {
	_, list, err := r.bodies.SegmentsAfter(ctx, id, 0)
	return list, err
}

// SegmentsAfter lists the segments of a body after those that it begins with like
// another body.
func (r *reader) SegmentsAfter(ctx context.Context, id, like transcript.BodyID) (shared int, rest []transcript.BodyID, err error) {
	return r.bodies.SegmentsAfter(ctx, id, like)
}

// PutBody stores a body and returns its id.
func (t *tx) PutBody(parts iter.Seq2[[]byte, error]) (transcript.BodyID, error) {
	return t.PutSegments(func(yield func(transcript.Segment, error) bool) {
		for part, err := range parts {
			if !yield(transcript.Segment{Bytes: part}, err) {
				return
			}
		}
	})
}

// PutSegments is PutBody for parts of which it is known which are the same.
func (t *tx) PutSegments(parts iter.Seq2[transcript.Segment, error]) (transcript.BodyID, error) {
	if err := t.open(); err != nil {
		return 0, err
	}
	return t.w.bodies.Put(parts)
}
