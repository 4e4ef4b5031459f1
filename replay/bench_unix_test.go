//go:build unix

package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// keepBodies keeps what is sent, to send it again without a player.
type keepBodies struct {
	base   http.RoundTripper
	bodies [][]byte
}

func (k *keepBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	k.bodies = append(k.bodies, body)
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return k.base.RoundTrip(r)
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPlay plays takes of a run of 100 steps, recorded into a spool, and sends the
// same bytes with a plain client. The model is in the same process and its CPU counts on
// both sides. What the spool holds is read behind each take: taking in is no part of it.
func BenchmarkPlay(b *testing.B) {
	const steps = 100
	dir := b.TempDir()
	db, err := store.Open(filepath.Join(dir, "t.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	spool, err := spool.Open(filepath.Join(dir, "spool"), spool.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer spool.Close()
	ctx := context.Background()
	drain := func() {
		for range steps {
			r, err := spool.Next(ctx)
			if err != nil {
				b.Fatal(err)
			}
			r.Release()
		}
	}
	a := newEndless(b)
	base := &http.Transport{DisableCompression: true}
	defer base.CloseIdleConnections()
	keeping := &keepBodies{base: recorder.NewTransport(base, recorder.Options{Spool: spool})}
	origin := &transcript.Exchange{ID: "0190a000-0000-7000-8000-000000000001", Dialect: transcript.Chat}
	request := func() *replay.Request {
		return &replay.Request{Origin: origin, Method: "POST", URL: a + "/v1/chat/completions", Header: http.Header{}, Body: []byte(firsts["/v1/chat/completions"])}
	}
	p := &replay.Player{Store: db, WithID: recorder.WithID}
	sources := []replay.Source{toolFunc(func(*replay.Call) *replay.Result {
		return &replay.Result{Text: strings.Repeat("a result of some length. ", 80), Source: transcript.FromRecording}
	})}
	p.Transport = keeping
	if take, err := p.Play(ctx, request(), replay.Options{Sources: sources, Limits: replay.Limits{Steps: steps}}); err != nil || len(take.Steps) != steps {
		b.Fatal(take, err)
	}
	drain()
	p.Transport = recorder.NewTransport(base, recorder.Options{Spool: spool})
	var played, plain time.Duration
	b.ResetTimer()
	for range b.N {
		began := cpu()
		if _, err := p.Play(ctx, request(), replay.Options{Sources: sources, Limits: replay.Limits{Steps: steps}}); err != nil {
			b.Fatal(err)
		}
		played += cpu() - began
		drain()
		began = cpu()
		for _, body := range keeping.bodies {
			req, _ := http.NewRequest("POST", a+"/v1/chat/completions", bytes.NewReader(body))
			resp, err := base.RoundTrip(req)
			if err != nil {
				b.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		plain += cpu() - began
	}
	b.ReportMetric(float64(played.Microseconds())/float64(b.N*steps), "cpu-µs/request")
	b.ReportMetric(float64(plain.Microseconds())/float64(b.N*steps), "plain-µs/request")
	b.ReportMetric(float64(played)/float64(plain), "ratio")
}

// newEndless starts a model that calls its tool for ever.
func newEndless(b *testing.B) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	answer := []byte(calling(`look {"n":1}`))
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Write(answer)
	})}
	go func() { _ = server.Serve(l) }()
	b.Cleanup(func() { server.Close() })
	return fmt.Sprint("http://", l.Addr())
}
