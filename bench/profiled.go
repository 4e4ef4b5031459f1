package main

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// serveProfiled is the recorder put together from its pieces, so that it can be
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
	spool, err := recorder.OpenSpool(filepath.Join(folder, "profiled.spool"), recorder.SpoolOptions{})
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
	err = serve(proxy)
	pprof.StopCPUProfile()
	return errors.Join(err, file.Close(), writeHeap(heap))
}

func writeHeap(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	runtime.GC()
	return errors.Join(pprof.WriteHeapProfile(file), file.Close())
}
