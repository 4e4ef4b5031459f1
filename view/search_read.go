package view

import (
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// iterate pulls items one by one; more is false at the end.
func iterate(seq iter.Seq2[transcript.SearchItem, error]) (next func() (item transcript.SearchItem, more bool, err error), stop func()) {
	pull, stop := iter.Pull2(seq)
	return func() (transcript.SearchItem, bool, error) {
		item, err, more := pull()
		return item, more, err
	}, stop
}

// lookup reads the items that the index tells of. Neighbours are often in one
// exchange, one answer, one element.
type lookup struct {
	*finder
	exchange *transcript.Exchange // the last one
	answer   *transcript.Turn     // its response
	whole    *transcript.Turn     // all of it
	piece    transcript.BodyID    // the last one
	element  []transcript.Item    // in it
}

// item shows an item of the index if it matches. What cannot be read is left
// out: inspect verify tells of it.
func (l *lookup) item(s transcript.SearchItem) error {
	if l.shown[place{s.Exchange, s.Body, s.At}] {
		return nil
	}
	if l.exchange == nil || l.exchange.N != s.Exchange {
		e, err := l.reader.ExchangeN(l.ctx, s.Exchange)
		if errors.Is(err, transcript.ErrNotFound) || errors.Is(err, transcript.ErrDamaged) {
			return nil
		}
		if err != nil {
			return err
		}
		*l = lookup{finder: l.finder, exchange: e}
	}
	it := l.find(s)
	if it == nil {
		return l.ctx.Err()
	}
	return l.consider(l.exchange, transcript.Brought{Item: it, Body: s.Body, Tool: s.Tool}, s.Again)
}

func (l *lookup) find(s transcript.SearchItem) *transcript.Item {
	if s.Kind == transcript.Failure {
		if l.exchange.Error == nil {
			return nil
		}
		return transcript.FailureItem(l.exchange.Error)
	}
	var it *transcript.Item
	switch {
	case s.Body == "response":
		it = at(l.output(), s.At)
	case s.Piece != 0:
		it = at(l.inPiece(s), s.At)
	}
	if it != nil {
		return it
	}
	if l.whole == nil {
		var err error
		if l.whole, err = Decode(l.ctx, l.reader, l.exchange); err != nil {
			l.whole = &transcript.Turn{}
		}
	}
	if s.Body == "response" {
		return at(l.whole.Output, s.At)
	}
	return at(l.whole.Input, s.At)
}

func at(items []transcript.Item, pointer string) *transcript.Item {
	i := slices.IndexFunc(items, func(it transcript.Item) bool { return it.At == pointer })
	if i < 0 {
		return nil
	}
	return &items[i]
}

// output reads the answer alone.
func (l *lookup) output() []transcript.Item {
	if l.answer == nil {
		e := l.exchange
		body, _ := readBody(l.ctx, l.reader, &e.Response)
		l.answer = dialect.Decode(e.Dialect, &dialect.Wire{Method: e.Method, URL: e.URL, Status: e.Status, ResponseHeader: e.Response.Headers, Response: body})
	}
	return l.answer.Output
}

func (l *lookup) inPiece(s transcript.SearchItem) []transcript.Item {
	if l.piece == s.Piece {
		return l.element
	}
	body, err := l.reader.Body(l.ctx, s.Piece)
	if err != nil {
		return nil
	}
	defer body.Close()
	piece, err := io.ReadAll(io.LimitReader(body, maxBody))
	if err != nil {
		return nil
	}
	l.piece, l.element = s.Piece, dialect.DecodeElement(l.exchange.Dialect, s.At, piece)
	return l.element
}
