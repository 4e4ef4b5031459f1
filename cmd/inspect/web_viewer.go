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

// viewer serves the pages of the database that is open: where its file is removed or
// replaced, another one is opened.
type viewer struct {
	app       *app
	o         web.Options
	replaying web.Replaying

	db      *retake.DB  // nil if it is only shown
	readers []*store.DB // the one that is read now is the last
	page    atomic.Pointer[http.Handler]
}

// ServeHTTP implements http.Handler.
func (v *viewer) ServeHTTP(w http.ResponseWriter, r *http.Request) { (*v.page.Load()).ServeHTTP(w, r) }

// open opens the database so that marks can be set and steps sent again; one that
// cannot be written is only shown.
func (v *viewer) open(ctx context.Context) error {
	path, err := v.app.path()
	if err != nil {
		return err
	}
	first, err := v.app.open() // which says what to do if there is none
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

// show has pages of a database served from now on.
func (v *viewer) show(reader *store.DB) {
	v.readers = append(v.readers, reader)
	v.o.Reader = reader
	h := web.New(v.o)
	v.page.Store(&h)
}

// close closes all that was opened. Pages that are still being read fail then.
func (v *viewer) close(ctx context.Context) {
	if v.db != nil {
		_ = v.db.Close() // what is left in the spool is taken in by the next start
	}
	for _, db := range v.readers {
		db.Close()
	}
}
