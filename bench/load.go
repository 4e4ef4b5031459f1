package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// job is one cell for the load generator.
type job struct {
	Scenario scenario
	Address  string // to connect to
	Seconds  float64
	Count    int // requests in all; 0: as many as fit in the time
	Seed     uint64
}

// load is what came of a job.
type load struct {
	Requests int     `json:"requests"` // answered, every byte of the answer right
	Failed   int     `json:"failed"`
	Failure  string  `json:"failure,omitempty"` // the first one
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50_us"` // from the request's first byte to the answer's last
	P99      float64 `json:"p99_us"`
	First50  float64 `json:"first_p50_us"` // to the first byte of the answer's body
	First99  float64 `json:"first_p99_us"`
}

// generate does the jobs that come in, one JSON document each, and prints the
// result of each as one line.
func generate(in io.Reader, out io.Writer) error {
	t := newText()
	fmt.Fprintln(out, announcement+"nothing")
	jobs, results := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var j job
		if err := jobs.Decode(&j); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := results.Encode(j.run(t)); err != nil {
			return err
		}
	}
}

const warmUp = 4 // requests of each connection before its time counts

// run sends a job's requests. All connections begin together once each is warm.
func (j *job) run(t text) *load {
	left := new(atomic.Int64)
	left.Store(int64(j.Count))
	all := make([]*worker, j.Scenario.Connections)
	var warm, done sync.WaitGroup
	begin := make(chan time.Time)
	for n := range all {
		w := newWorker(j, t, uint64(n))
		all[n] = w
		warm.Add(1)
		done.Go(func() {
			w.warm()
			warm.Done()
			w.work(<-begin, left)
		})
	}
	warm.Wait()
	start := time.Now()
	for range all {
		begin <- start
	}
	done.Wait()
	return gather(all, time.Since(start))
}

func gather(all []*worker, took time.Duration) *load {
	l := &load{Seconds: took.Seconds()}
	var whole, first []time.Duration
	for _, w := range all {
		w.close()
		whole, first = append(whole, w.whole...), append(first, w.first...)
		l.Failed += w.failed
		if l.Failure == "" && w.failure != nil {
			l.Failure = w.failure.Error()
		}
	}
	l.Requests = len(whole)
	l.P50, l.P99 = percentiles(whole)
	l.First50, l.First99 = percentiles(first)
	return l
}

// percentiles returns the 50th and the 99th percentile in microseconds.
func percentiles(all []time.Duration) (p50, p99 float64) {
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	at := func(share float64) float64 {
		return float64(all[int(share*float64(len(all)-1)+0.5)]) / float64(time.Microsecond)
	}
	return at(0.5), at(0.99)
}

// worker is one connection.
type worker struct {
	job     *job
	prompts prompter
	client  *client
	number  uint64

	whole, first []time.Duration
	failed       int
	failure      error
}

func newWorker(j *job, t text, n uint64) *worker {
	return &worker{job: j, prompts: newPrompter(&j.Scenario, t, j.Seed, n), client: newClient(j, t), number: n}
}

// warm connects and, unless streams are slow, sends a few requests.
func (w *worker) warm() {
	p := w.prompts
	if w.job.Scenario.Prompts == agents || w.job.Scenario.Pace > 0 {
		warm := w.job.Scenario
		warm.Prompts, warm.Events, warm.Pace = small, 0, 0
		p = newPrompter(&warm, w.client.text, w.job.Seed, w.number|1<<32)
	}
	for range warmUp {
		_, _, _ = w.client.once(p.next(), w.job.Scenario.Pace > 0)
	}
}

// maxFailures ends a connection that only fails.
const maxFailures = 1000

// work sends requests until the time is over or their number is reached.
func (w *worker) work(start time.Time, left *atomic.Int64) {
	s := &w.job.Scenario
	until := start.Add(time.Duration(max(w.job.Seconds, s.Seconds) * float64(time.Second)))
	if s.Pace > 0 { // agents do not send at the same time
		time.Sleep(time.Duration(s.Events) * s.Pace * time.Duration(w.number) / time.Duration(2*s.Connections))
	}
	for n := 0; w.failed < maxFailures; n++ {
		switch {
		case w.job.Count > 0 && left.Add(-1) < 0,
			w.job.Count == 0 && s.Each > 0 && n == s.Each,
			w.job.Count == 0 && s.Each == 0 && !time.Now().Before(until):
			return
		}
		whole, first, err := w.client.once(w.prompts.next(), false)
		if err != nil {
			w.failed++
			if w.failure == nil {
				w.failure = err
			}
			continue
		}
		w.whole, w.first = append(w.whole, whole), append(w.first, first)
	}
}

func (w *worker) close() { w.client.close() }
