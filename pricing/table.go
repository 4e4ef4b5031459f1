package pricing

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"sync"
	"sync/atomic"
)

// Table finds the price of a model. It may be used by several goroutines.
type Table struct {
	user    map[string]Price // by model, in lower case
	catalog func() *catalog  // read on first use: it takes some milliseconds
	last    atomic.Pointer[found]
}

// found is what was looked up last: the exchanges of a run mostly ask the same.
type found struct {
	url, model, responseModel string
	price                     Price
	ok                        bool
}

// New returns a table of the built-in prices.
func New() *Table {
	return &Table{catalog: sync.OnceValue(readCatalog)}
}

// file is what a user writes:
//
//	{"currency": "USD", "per_tokens": 1000000, "models": {
//	  "corp-alias-7": {"input": "2.00", "cache_read": "0.50", "cache_write": "2.50", "cache_write_1h": "4.00", "output": "8.00"},
//	  "corp-*":       {"input": "0", "output": "0"}}}
//
// A name that ends in * means all that begin so; the longest one counts. A price
// that is left out is unknown, "0" is free. cache_write_5m is cache_write.
type file struct {
	Currency  string               `json:"currency"`
	PerTokens json.Number          `json:"per_tokens"`
	Models    map[string]filePrice `json:"models"`
}

type filePrice struct {
	Input        json.Number `json:"input"`
	CacheRead    json.Number `json:"cache_read"`
	CacheWrite   json.Number `json:"cache_write"`
	CacheWrite5m json.Number `json:"cache_write_5m"`
	CacheWrite1h json.Number `json:"cache_write_1h"`
	Output       json.Number `json:"output"`
}

// maxFile bounds a price file.
const maxFile = 16 << 20

// Override reads a user's file. What it says about a model replaces all that the
// table knew about it.
func (t *Table) Override(r io.Reader) error {
	d := json.NewDecoder(io.LimitReader(r, maxFile))
	d.DisallowUnknownFields()
	var f file
	if err := d.Decode(&f); err != nil {
		return fmt.Errorf("read prices: %w", err)
	}
	if f.Currency != "" && f.Currency != "USD" {
		return fmt.Errorf("read prices: currency %q: only USD is known", f.Currency)
	}
	if strings.Trim(string(f.PerTokens), "0") != "1" && f.PerTokens != "" {
		return fmt.Errorf("read prices: per_tokens %q is no power of ten", f.PerTokens)
	}
	user := make(map[string]Price, len(f.Models))
	for name, m := range f.Models {
		p, err := m.price(string(f.PerTokens))
		if err != nil {
			return fmt.Errorf("read prices: %s: %w", name, err)
		}
		user[strings.ToLower(name)] = p
	}
	t.user = user
	t.last.Store(nil)
	return nil
}

func (m filePrice) price(per string) (p Price, err error) {
	if per == "" {
		per = "1000000"
	}
	if m.CacheWrite == "" {
		m.CacheWrite = m.CacheWrite5m
	}
	unit, ok := decimal(per)
	if !ok {
		return p, errors.New("per_tokens is no number")
	}
	for _, v := range [...]struct {
		name string
		text json.Number
		to   **big.Rat
	}{
		{"input", m.Input, &p.Input}, {"cache_read", m.CacheRead, &p.CacheRead}, {"cache_write", m.CacheWrite, &p.CacheWrite},
		{"cache_write_1h", m.CacheWrite1h, &p.CacheWrite1h}, {"output", m.Output, &p.Output},
	} {
		if v.text == "" {
			continue
		}
		r, ok := decimal(string(v.text))
		if !ok {
			return p, fmt.Errorf("%s %q is no decimal number", v.name, v.text)
		}
		*v.to = r.Mul(r.Quo(r, unit), big.NewRat(million, 1))
	}
	return p, nil
}

// Price returns what a model costs at the host that was called. It is not ok if no
// price is known.
func (t *Table) Price(url, model, responseModel string) (Price, bool) {
	if f := t.last.Load(); f != nil && f.url == url && f.model == model && f.responseModel == responseModel {
		return f.price, f.ok
	}
	p, ok := t.find(url, model, responseModel)
	t.last.Store(&found{url, model, responseModel, p, ok})
	return p, ok
}

func (t *Table) find(url, model, responseModel string) (Price, bool) {
	for _, name := range [...]string{model, responseModel} {
		if p, ok := t.userPrice(strings.ToLower(name)); ok {
			return p, true
		}
	}
	return t.catalog().price(url, model, responseModel)
}

func (t *Table) userPrice(model string) (Price, bool) {
	if model == "" {
		return Price{}, false
	}
	if p, ok := t.user[model]; ok {
		return p, true
	}
	longest, found := -1, Price{}
	for name, p := range t.user {
		prefix, ok := strings.CutSuffix(name, "*")
		if ok && len(prefix) > longest && strings.HasPrefix(model, prefix) {
			longest, found = len(prefix), p
		}
	}
	return found, longest >= 0
}
