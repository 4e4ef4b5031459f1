package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/web"
)

// viewer serves the pages of the current database. If its file is removed or
// replaced, it opens the new one.
type viewer struct {
	app       *app
	o         web.Options
	replaying web.Replaying

	db      *retake.DB  // nil if it is read-only
	readers []*store.DB // the last one is in use
	page    atomic.Pointer[http.Handler]
}

// ServeHTTP implements http.Handler.
func (v *viewer) ServeHTTP(w http.ResponseWriter, r *http.Request) { (*v.page.Load()).ServeHTTP(w, r) }

// open opens the database for marks and replays; one that is not writable is opened
// read-only.
func (v *viewer) open(ctx context.Context) error {
	path, err := v.app.path()
	if err != nil {
		return err
	}
	first, err := v.app.open() // its error has a hint if there is none
	if err != nil {
		return err
	}
	v.show(first)
	w, err := retake.OpenSpool(path, retake.Options{Prices: v.o.Prices, Log: v.o.Log})
	if err == nil {
		if err = w.Opened(ctx); err != nil {
			err = errors.Join(err, w.Close())
		}
	}
	if err != nil {
		fmt.Fprintf(v.app.err, "inspect: only shown, since it cannot be written: %s\n", visible(err.Error()))
		return nil
	}
	v.db, v.o.Playing, v.o.Replaying = w, web.NewPlaying(), &v.replaying
	v.replaying.Player = w.Player
	w.Start(func(db *store.DB) {
		reader := first
		if reader == nil {
			var err error
			if reader, err = v.app.open(); err != nil {
				v.o.Log.Error("open the database to read it", "error", err)
				return
			}
		}
		first = nil
		v.o.Update = db.Update
		v.show(reader)
	})
	return nil
}

// show serves the pages of a database from now on.
func (v *viewer) show(reader *store.DB) {
	v.readers = append(v.readers, reader)
	v.o.Reader = reader
	h := web.New(v.o)
	v.page.Store(&h)
}

// close closes everything that was opened. Pages that are still being read fail.
func (v *viewer) close(ctx context.Context) {
	if v.db != nil {
		_ = v.db.Close() // the next start ingests the rest of the spool
	}
	for _, db := range v.readers {
		db.Close()
	}
}
