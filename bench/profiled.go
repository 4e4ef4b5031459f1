package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// serveProfiled is the recorder, assembled from its parts so that it can be
// profiled without a profiler in the recorder.
func serveProfiled(to, folder, cpu, heap string) error {
	u, err := url.Parse(to)
	if err != nil {
		return err
	}
	db, err := store.Open(filepath.Join(folder, "profiled.db"), store.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	spool, err := spool.Open(filepath.Join(folder, "profiled.spool"), spool.Options{})
	if err != nil {
		return err
	}
	defer spool.Close()
	proxy, err := recorder.NewProxy(recorder.Options{Spool: spool, Upstreams: []recorder.Upstream{{URL: u}}})
	if err != nil {
		return err
	}
	runner := &ingest.Runner{Spool: spool, Log: slog.Default(), Store: func(context.Context) (transcript.Store, error) { return db, nil }}
	ctx, stop := context.WithCancel(context.Background())
	ingested := make(chan struct{})
	go func() {
		defer close(ingested)
		runner.Run(ctx)
	}()
	defer func() {
		stop()
		<-ingested
	}()
	file, err := os.Create(cpu)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	watched := make(chan error, 1)
	go func() { watched <- watchHeap(ctx, heap) }()
	err = serve(func(l net.Listener) error { return proxy.Serve(&http.Server{}, l) })
	pprof.StopCPUProfile()
	stop()
	return errors.Join(err, file.Close(), <-watched)
}

// watchHeap writes a profile of the heap at its largest.
func watchHeap(ctx context.Context, path string) error {
	var fullest uint64
	var profile bytes.Buffer
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return os.WriteFile(path, profile.Bytes(), 0o600)
		case <-tick.C:
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if m.HeapAlloc > fullest+fullest/10 {
			fullest = m.HeapAlloc
			profile.Reset()
			if err := pprof.WriteHeapProfile(&profile); err != nil {
				return err
			}
		}
	}
}
