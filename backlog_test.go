package retake_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/transcript"
)

// While the database does not answer, Close logs how many exchanges are left, and the
// next start stores them.
func TestClose_SaysWhatIsLeftInTheSpool(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	b := newBench(t, path)
	if err := b.db.Opened(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.call("first")
	for len(b.stored()) < 1 {
		time.Sleep(time.Millisecond)
	}
	release := make(chan struct{})
	held := make(chan struct{})
	db := b.db.Store()
	var other sync.WaitGroup
	other.Go(func() {
		err := db.Update(context.Background(), func(transcript.Tx) error {
			close(held)
			<-release
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-held
	b.call("second")
	b.call("third")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := b.db.Shutdown(ctx); err == nil {
		t.Error("close says nothing though the database does not answer")
	}
	if log := b.log.String(); !strings.Contains(log, "left in the spool") || !strings.Contains(log, "exchanges=2") {
		t.Errorf("the log does not say that two exchanges are left:\n%s", log)
	}
	close(release)
	other.Wait()
	again := newBench(t, path)
	defer again.close()
	if err := again.db.Opened(t.Context()); err != nil {
		t.Fatal(err)
	}
	for len(again.stored()) < 3 {
		time.Sleep(time.Millisecond)
	}
}

// If a newer version has changed the database, the log says so once, Close does not
// wait, and the next start stores everything.
func TestClose_OfADatabaseThatANewerVersionChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	b := newBench(t, path)
	if err := b.db.Opened(t.Context()); err != nil {
		t.Fatal(err)
	}
	var version int
	other, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(fmt.Sprintf("PRAGMA user_version = %d", version+1)); err != nil {
		t.Fatal(err)
	}
	b.call("first")
	until(t, "a failed commit", func() bool { return !strings.HasSuffix(fmt.Sprint(b.db.Status()["ingest"]), " 0}") })
	began := time.Now()
	b.close()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("closing took %v", took)
	}
	if log := b.log.String(); strings.Count(log, "a newer version has changed") != 1 || !strings.Contains(log, "exchanges=1") {
		t.Errorf("log:\n%s", log)
	}
	if _, err := other.Exec(fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		t.Fatal(err)
	}
	again := newBench(t, path)
	defer again.close()
	if err := again.db.Opened(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the exchange", func() bool { return len(again.stored()) == 1 })
}

const (
	floodFor    = 25 * time.Second
	floodRate   = 100 // requests a second
	floodAgents = 16
	floodBody   = 200_000
)

// BenchmarkBacklog sends distinct bodies of 200 KB through a recorder, 100 a
// second for 25 seconds over 16 connections, while another writer uses the database.
// It reports how long after the end the spool was empty, and how long the other writer
// waited. It runs once, whatever b.N.
func BenchmarkBacklog(b *testing.B) {
	db, err := retake.OpenSpool(filepath.Join(b.TempDir(), "t.db"), retake.Options{})
	if err != nil {
		b.Fatal(err)
	}
	db.Start(nil)
	defer db.Close()
	upstream := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(rw, `{"id":"chatcmpl-1","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Yes."},"finish_reason":"stop"}]}`)
	}))
	defer upstream.Close()
	o := db.Recording()
	u := mustURL(b, upstream.URL)
	o.Upstreams = []recorder.Upstream{{URL: u}}
	proxy, err := recorder.NewProxy(o)
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(proxy)
	defer server.Close()

	ctx, stop := context.WithCancel(b.Context())
	var waits []time.Duration
	var most int
	var beside sync.WaitGroup
	beside.Go(func() { waits, most = writeBeside(ctx, db) })
	flood(b, server.URL+"/v1/chat/completions")
	ended := time.Now()
	left := db.Recording().Spool.Stats().Backlog
	for db.Recording().Spool.Stats().Backlog > 0 {
		time.Sleep(time.Millisecond)
	}
	b.ReportMetric(time.Since(ended).Seconds(), "drain-s")
	b.ReportMetric(float64(left), "left-at-end")
	stop()
	beside.Wait()
	b.ReportMetric(float64(most), "backlog-most")
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds())/1000, "wait-p50-ms")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "wait-p99-ms")
	b.ReportMetric(float64(waits[len(waits)-1].Microseconds())/1000, "wait-most-ms")
	s := db.Recording().Spool.Stats()
	b.ReportMetric(float64(s.Lossy+s.Lost), "lossy")
	b.ReportMetric(0, "ns/op")
}

// writeBeside measures how long small transactions take, and how many exchanges waited
// in the spool at most.
func writeBeside(ctx context.Context, db *retake.DB) (waits []time.Duration, most int) {
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		rows := db.Store()
		if rows == nil {
			continue
		}
		most = max(most, db.Recording().Spool.Stats().Backlog)
		began := time.Now()
		err := rows.Update(ctx, func(tx transcript.Tx) error { return tx.SetNote("beside", began.String()) })
		if err == nil {
			waits = append(waits, time.Since(began))
		}
	}
	return waits, most
}

// flood sends requests at an even pace.
func flood(b *testing.B, url string) {
	tickets := make(chan int, floodAgents)
	var all sync.WaitGroup
	for range floodAgents {
		all.Go(func() {
			for n := range tickets {
				resp, err := http.Post(url, "application/json", bytes.NewReader(distinct(uint64(n))))
				if err != nil {
					b.Error(err)
					continue
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	tick := time.NewTicker(time.Second / floodRate)
	defer tick.Stop()
	for n := range int(floodFor.Seconds()) * floodRate {
		<-tick.C
		tickets <- n
	}
	close(tickets)
	all.Wait()
}

// distinct makes a request that shares no message with any other.
func distinct(seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 7))
	var out bytes.Buffer
	out.WriteString(`{"model":"m","messages":[{"role":"system","content":"You are a coding agent."}`)
	for n := 0; out.Len() < floodBody; n++ {
		fmt.Fprintf(&out, `,{"role":"%s","content":"`, []string{"user", "assistant"}[n%2])
		for end := out.Len() + 2500; out.Len() < end; {
			out.WriteString(syllables[random.IntN(len(syllables))])
			if random.IntN(3) == 0 {
				out.WriteByte(' ')
			}
		}
		out.WriteString(`"}`)
	}
	out.WriteString(`]}`)
	return out.Bytes()
}

var syllables = []string{"re", "tur", "func", "err", "nil", "ing", "st", "or", "val", "ue", "in", "dex", "map", "key", "if", "for", "the", "of", "con", "text", "na", "me", "file", "path", "a", "0", "1", "2", "()", "{}", "=", "\\n"}
