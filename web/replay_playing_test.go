package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// goneStore is a database whose file is removed at some moment.
type goneStore struct {
	*store.DB
	gone atomic.Bool
}

func (s *goneStore) Update(ctx context.Context, f func(transcript.Tx) error) error {
	if s.gone.Load() {
		return errors.New("the database is closed")
	}
	return s.DB.Update(ctx, f)
}

// gated is a check that waits for a word, and tells that it does.
func gated(reached chan<- struct{}, release <-chan struct{}) web.Check {
	return web.Check{Name: "gate", Holds: func(ctx context.Context, _, _ string) (bool, error) {
		select {
		case reached <- struct{}{}:
		default:
		}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return true, ctx.Err()
	}}
}

// A database that is opened anew, since its file was removed or replaced, gets a new
// viewer: what is under way then is not lost from view, and it is told what happened.
func TestPlaying_WhatIsUnderWayOutlivesItsDatabase(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		form url.Values
		how  string
	}{
		"sample":   {"replay", url.Values{"mode": {"sample"}, "takes": {"6"}, "model": {"weather-2"}, "look": {"check"}, "check": {"gate"}}, "how it stood"},
		"minimise": {"minimise", url.Values{"look": {"check"}, "check": {"gate"}, "part.items": {"1"}, "samples": {"1"}}, "candidates"},
	} {
		t.Run(name, func(t *testing.T) {
			db, o := replayViewer(t)
			_, other := replayViewer(t)
			old := &goneStore{DB: db}
			reached, release := make(chan struct{}, 1), make(chan struct{})
			player := *o.Replaying.Player()
			player.Store = old
			o.Replaying.Player = func() *replay.Player { return &player }
			o.Replaying.Checks = []web.Check{gated(reached, release)}
			o.Update, o.Playing = old.Update, web.NewPlaying()
			h := web.New(o)
			path := fmt.Sprintf("/x/%d/%s", followUp(t, db).N, c.path)
			c.form.Set("form", hidden(t, open(t, h, path)))
			w := confirm(t, h, path, c.form)
			to := w.Header().Get("Location")
			if w.Code != http.StatusSeeOther {
				t.Fatalf("status %d: %s", w.Code, parse(t, w.Body.String()).text())
			}
			other.Playing = o.Playing
			again := web.New(other)
			p := open(t, again, to)
			wantText(t, p, "in progress", "The database was opened anew while this went on")
			stopped := post(again, to+"/stop", url.Values{"form": {"of the old page"}})
			if stopped.Code != http.StatusForbidden {
				t.Errorf("stop by a form of the old page: status %d", stopped.Code)
			}
			<-reached
			old.gone.Store(true)
			close(release)
			for n := 0; n < 2000 && len(p.class("under-way-sample")) > 0; n++ {
				time.Sleep(5 * time.Millisecond)
				p = open(t, again, to)
			}
			wantText(t, p, "The database was opened anew while this went on", c.how)
			if w := ask(web.New(other), "GET", to); w.Code != http.StatusOK {
				t.Errorf("a further viewer: status %d", w.Code)
			}
			// A take of another database with the same number is not the one under way.
			wantText(t, open(t, again, "/t/1"), "ended")
		})
	}
}

func TestPlaying_ADatabaseThatCannotBeReadIsNoReasonToShowNothing(t *testing.T) {
	db, o := replayViewer(t)
	reached, release := make(chan struct{}, 1), make(chan struct{})
	defer close(release)
	o.Replaying.Checks = []web.Check{gated(reached, release)}
	broken := &brokenReader{Reader: db}
	o.Reader = broken
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/replay", followUp(t, db).N)
	to := confirm(t, h, path, url.Values{"form": {hidden(t, open(t, h, path))}, "mode": {"sample"}, "takes": {"2"}, "model": {"weather-2"}, "look": {"check"}, "check": {"gate"}}).Header().Get("Location")
	broken.now.Store(true)
	wantText(t, open(t, h, to), "in progress", "The database cannot be read at the moment: sql: database is closed")
}

// brokenReader is a database that cannot be read any more from some moment on.
type brokenReader struct {
	transcript.Reader
	now atomic.Bool
}

func (r *brokenReader) Takes(ctx context.Context, id string) ([]transcript.Take, error) {
	if r.now.Load() {
		return nil, errors.New("sql: database is closed")
	}
	return r.Reader.Takes(ctx, id)
}
