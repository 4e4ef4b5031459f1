package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// Segments lists the pieces of a body.
func (r *reader) Segments(ctx context.Context, id transcript.BodyID) ([]transcript.BodyID, error) {
	_, list, err := r.SegmentsAfter(ctx, id, 0)
	return list, err
}

// SegmentsAfter lists the pieces of a body behind those that it begins with as
// another body does.
func (r *reader) SegmentsAfter(ctx context.Context, id, like transcript.BodyID) (shared int, rest []transcript.BodyID, err error) {
	list, err := r.listed(ctx, id)
	if err != nil {
		return 0, nil, fmt.Errorf("list pieces of body %d: %w", id, err)
	}
	if like != 0 {
		other, err := r.listed(ctx, like)
		if err != nil && !errors.Is(err, transcript.ErrNotFound) {
			return 0, nil, fmt.Errorf("list pieces of body %d: %w", like, err)
		}
		if err == nil {
			shared = sharedPrefix(list, other)
		}
	}
	ids := list.behind(shared)
	if len(ids) == 0 {
		return shared, nil, nil
	}
	rest = make([]transcript.BodyID, len(ids))
	for i := range ids {
		rest[i] = bodyOfSegment(ids[i])
	}
	return shared, rest, nil
}

// listed gives the segments of a body as a list.
func (r *reader) listed(ctx context.Context, id transcript.BodyID) (*segmentList, error) {
	switch {
	case id > 0 && id&1 == 0:
		return r.recipe(ctx, int64(id>>1))
	case id == 0:
		return &segmentList{}, nil
	}
	ids, err := r.segments(ctx, id)
	list := &segmentList{}
	for _, s := range ids {
		list.add(s)
	}
	return list, err
}
