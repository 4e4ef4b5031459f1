package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/retake-debugger/retake/transcript"
)

func updateSeesItself(t *testing.T, s transcript.Store) {
	update(t, s, func(tx transcript.Tx) error {
		e := full(1)
		var err error
		if e.Request.Body, err = tx.PutBody(pieces([]byte("a"), []byte("b"))); err != nil {
			return err
		}
		if err := tx.PutExchange(e); err != nil {
			return err
		}
		if got, err := readBody(t.Context(), tx, e.Request.Body); string(got) != "ab" || err != nil {
			t.Errorf("body: %q, %v", got, err)
		}
		got, err := tx.Exchange(t.Context(), e.ID)
		if err != nil {
			return err
		}
		same(t, "exchange", got, e)
		if known, err := tx.HasExchange(e.ID); !known || err != nil {
			t.Errorf("HasExchange: %v, %v", known, err)
		}
		same(t, "by node", found(t, tx.ByOutNode, e.Link.OutNode, 1), []string{e.ID})
		numbers, err := collect(tx.Exchanges(t.Context(), transcript.Filter{Model: "gpt"}))
		same(t, "list", numbers, []int64{1})
		return err
	})
}

var errOnPurpose = errors.New("on purpose")

// fill writes one of everything.
func fill(tx transcript.Tx, n int) error {
	e := full(n)
	run, err := tx.RunByLabel(fmt.Sprint("run ", n), base)
	if err != nil {
		return err
	}
	e.Link.Run = run.ID
	if e.Request.Body, err = tx.PutBody(pieces([]byte("some"), fmt.Appendf(nil, "body %d", n))); err != nil {
		return err
	}
	return errors.Join(
		tx.PutExchange(e),
		tx.PutCall(transcript.CallRow{Exchange: e.ID, At: "/a"}),
		tx.PutResult(e.ID, "/a", transcript.ResultRow{Exchange: e.ID, At: "/b"}),
		tx.PutTake(&transcript.Take{ID: id(100 + n), Origin: e.ID, Steps: []transcript.TakeStep{{Exchange: e.ID, Step: 1, Attempt: 1}}}),
	)
}

// isEmpty checks that nothing of fill is there, and that filling it works as if
// nothing had happened.
func isEmpty(t *testing.T, s transcript.Store) {
	t.Helper()
	emptyStore(t, s)
	update(t, s, func(tx transcript.Tx) error { return fill(tx, 1) })
	e, err := s.ExchangeN(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readBody(t.Context(), s, e.Request.Body); string(got) != "somebody 1" || err != nil {
		t.Errorf("body: %q, %v", got, err)
	}
	if run, err := s.Run(t.Context(), e.Link.Run); err != nil || run.N != 1 {
		t.Errorf("run: %v, %v", run, err)
	}
}

func updateFails(t *testing.T, s transcript.Store) {
	err := s.Update(t.Context(), func(tx transcript.Tx) error { return errors.Join(fill(tx, 1), errOnPurpose) })
	if !errors.Is(err, errOnPurpose) {
		t.Errorf("got %v", err)
	}
	isEmpty(t, s)
}

func updatePanics(t *testing.T, s transcript.Store) {
	func() {
		defer func() {
			if p := recover(); p != errOnPurpose {
				t.Errorf("recovered %v", p)
			}
		}()
		_ = s.Update(t.Context(), func(tx transcript.Tx) error {
			if err := fill(tx, 1); err != nil {
				return err
			}
			panic(errOnPurpose)
		})
	}()
	isEmpty(t, s)
}

func updateCancelled(t *testing.T, s transcript.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Update(ctx, func(tx transcript.Tx) error {
		err := fill(tx, 1)
		cancel()
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := s.Update(ctx, func(tx transcript.Tx) error { return fill(tx, 1) }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	isEmpty(t, s)
}

func updateConcurrent(t *testing.T, s transcript.Store) {
	const writers, each = 8, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				n := 1 + w*each + i
				if err := s.Update(t.Context(), func(tx transcript.Tx) error { return fill(tx, n) }); err != nil {
					t.Error(err)
				}
				if _, err := s.Exchange(t.Context(), id(n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	numbers, err := collect(s.Exchanges(t.Context(), transcript.Filter{Oldest: true}))
	if err != nil || len(numbers) != writers*each || numbers[len(numbers)-1] != writers*each {
		t.Errorf("%d exchanges, %v", len(numbers), err)
	}
}

func txEnds(t *testing.T, s transcript.Store) {
	var kept transcript.Tx
	update(t, s, func(tx transcript.Tx) error {
		kept = tx
		return nil
	})
	if err := kept.PutExchange(plain(1)); err == nil {
		t.Error("a transaction that is over took an exchange")
	}
	if _, err := kept.PutBody(pieces([]byte("x"))); err == nil {
		t.Error("a transaction that is over took a body")
	}
	isEmpty(t, s)
}

func readsCancelled(t *testing.T, s transcript.Store) {
	put(t, s, plain(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Exchange(ctx, id(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("Exchange: %v", err)
	}
	if _, err := collect(s.Exchanges(ctx, transcript.Filter{})); !errors.Is(err, context.Canceled) {
		t.Errorf("Exchanges: %v", err)
	}
}
