package view

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// ErrBadRef says that a text is no reference to an exchange.
var ErrBadRef = errors.New("not a reference")

// ErrAmbiguous says that a part of an id fits several exchanges.
var ErrAmbiguous = errors.New("fits more than one exchange")

// shortestPart is how many characters of an id are needed to mean it.
const shortestPart = 4

// Resolve finds the exchange that a reference means: x12, x:last, x:last~2, t4
// for the exchange that a take sent, or a unique part of an id. ErrNotFound,
// ErrAmbiguous or ErrBadRef tell what is wrong with one that means none.
func Resolve(ctx context.Context, r transcript.Reader, ref string) (*transcript.Exchange, error) {
	if back, ok := lastRef(ref); ok {
		return nthLast(ctx, r, ref, back)
	}
	if n, ok := number(ref, "x"); ok {
		e, err := r.ExchangeN(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", ref, err)
		}
		return e, nil
	}
	if n, ok := number(ref, "t"); ok {
		return byTake(ctx, r, n)
	}
	return byPart(ctx, r, ref)
}

func number(ref, prefix string) (int64, bool) {
	digits, ok := strings.CutPrefix(ref, prefix)
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, ok && err == nil && n > 0
}

func byTake(ctx context.Context, r transcript.Reader, n int64) (*transcript.Exchange, error) {
	takes, err := r.Takes(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, t := range takes {
		if t.N == n {
			return r.Exchange(ctx, t.Exchange)
		}
	}
	return nil, fmt.Errorf("find t%d: %w", n, transcript.ErrNotFound)
}

func lastRef(ref string) (back int, ok bool) {
	rest, ok := strings.CutPrefix(ref, "x:last")
	if !ok || rest == "" {
		return 0, ok
	}
	digits, ok := strings.CutPrefix(rest, "~")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0
}

func nthLast(ctx context.Context, r transcript.Reader, ref string, back int) (*transcript.Exchange, error) {
	for e, err := range r.Exchanges(ctx, transcript.Filter{Limit: back + 1}) {
		if err != nil {
			return nil, err
		}
		if back == 0 {
			return e, nil
		}
		back--
	}
	return nil, fmt.Errorf("find %s: %w", ref, transcript.ErrNotFound)
}

func byPart(ctx context.Context, r transcript.Reader, ref string) (*transcript.Exchange, error) {
	if strings.Trim(strings.ToLower(ref), "0123456789abcdef-") != "" {
		return nil, fmt.Errorf("find %q: %w", ref, ErrBadRef)
	}
	if len(ref) < shortestPart {
		return nil, fmt.Errorf("find %q: %w: a part of an id needs %d characters", ref, ErrBadRef, shortestPart)
	}
	ids, err := r.FindExchanges(ctx, strings.ToLower(ref), 2)
	if err != nil {
		return nil, err
	}
	switch len(ids) {
	case 0:
		return nil, fmt.Errorf("find %q: %w", ref, transcript.ErrNotFound)
	case 1:
		return r.Exchange(ctx, ids[0])
	}
	return nil, fmt.Errorf("find %q: %w", ref, ErrAmbiguous)
}
