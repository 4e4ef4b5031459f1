package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// damage stores the first exchange once more, with a request body that is not
// there.
func damage(path string) error {
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	ctx := context.Background()
	e, err := db.ExchangeN(ctx, 1)
	if err == nil {
		e.ID, e.Request.Body = "0190a000-0000-7000-8000-00000000dead", 1<<40
		err = db.Update(ctx, func(tx transcript.Tx) error { return tx.PutExchange(e) })
	}
	return errors.Join(err, db.Close())
}

// abandon sends a request to a model through a recorder that is gone before it
// takes the exchange in.
func abandon(path, url string) error {
	spool, err := spool.Open(retake.SpoolDir(path), spool.Options{})
	if err != nil {
		return err
	}
	t := recorder.NewTransport(nil, recorder.Options{Spool: spool})
	res, err := (&http.Client{Transport: t}).Post(url+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[]}`))
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	if err = errors.Join(err, res.Body.Close()); err == nil {
		_, err = spool.Next(context.Background())
	}
	if err == nil {
		os.Exit(0) // as if it were killed
	}
	return err
}
