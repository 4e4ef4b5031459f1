package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/web"
)

// TestServe is no test: as a process of its own it serves the database that
// RETAKE_BENCH_SERVE names, so that BenchmarkHeavyRun sees what memory that takes.
func TestServe(t *testing.T) {
	path := os.Getenv("RETAKE_BENCH_SERVE")
	if path == "" {
		t.Skip("only BenchmarkHeavyRun starts it")
	}
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("serving http://%s\n", l.Addr())
	go func() { _ = http.Serve(l, web.New(options(db))) }()
	_, _ = io.Copy(io.Discard, os.Stdin) // until the benchmark is over
}

// serving is a viewer in a process of its own.
type serving struct {
	base string
	pid  int
}

func serveApart(b *testing.B, path string) *serving {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", "^TestServe$", "-test.timeout", "0")
	cmd.Env = append(os.Environ(), "RETAKE_BENCH_SERVE="+path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stdin.Close(); _ = cmd.Wait() })
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if base, ok := strings.CutPrefix(lines.Text(), "serving "); ok {
			go io.Copy(io.Discard, stdout)
			return &serving{base, cmd.Process.Pid}
		}
	}
	b.Fatal("the viewer did not start")
	return nil
}

// peak is the most resident memory that the process has had, in MB.
func (s *serving) peak(b *testing.B) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		b.Skip("memory is read from /proc")
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kb / 1000
}

// BenchmarkHeavyRun opens the pages of runs of about 200 MB: one of 5,000 steps,
// one of few huge results, one of images. RETAKE_BENCH_HEAVY names the folder in
// which their databases are kept. A page is asked for by a client, from a server of
// its own each, then by a Chromium if there is one.
func BenchmarkHeavyRun(b *testing.B) {
	for _, h := range heavyRuns() {
		b.Run(h.name, func(b *testing.B) {
			path := h.file(b)
			middle := fmt.Sprintf("/r/1?from=%d", h.steps/2/100*100)
			last := fmt.Sprintf("/x/%d", h.steps+h.steps/h.window)
			for _, target := range []string{"/", "/r/1", middle, "/r/1/time", "/r/1/calls", "/r/1/findings", "/x/20", last} {
				b.Run("server "+target, func(b *testing.B) { askHeavy(b, serveApart(b, path), target) })
			}
			b.Run("browser", func(b *testing.B) { browseHeavy(b, serveApart(b, path), h.steps/2) })
		})
	}
}

// askHeavy measures the first answer of a new server and those behind it.
func askHeavy(b *testing.B, s *serving, target string) {
	var first time.Duration
	var begun, whole []time.Duration
	size := 0
	for b.Loop() {
		start := time.Now()
		r, err := http.Get(s.base + target)
		if err != nil {
			b.Fatal(err)
		}
		got := time.Since(start)
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != http.StatusOK {
			b.Fatalf("%s: status %d, %v: %.200s", target, r.StatusCode, err, body)
		}
		size = len(body)
		if first == 0 {
			first = time.Since(start)
		}
		begun, whole = append(begun, got), append(whole, time.Since(start))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(first), "first-ms")
	b.ReportMetric(ms(median(begun)), "ttfb-ms")
	b.ReportMetric(ms(median(whole)), "whole-ms")
	b.ReportMetric(float64(size)/1000, "page-kB")
	b.ReportMetric(s.peak(b), "peak-MB")
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// scroll goes down a page, a bit in each frame, and gives how long frames took, in
// order of length.
const scroll = `new Promise((resolve) => {
  const frames = [];
  let before = 0;
  const next = (at) => {
    if (before) frames.push(at - before);
    before = at;
    scrollBy(0, 120);
    if (frames.length < 240 && innerHeight + scrollY + 2 < document.documentElement.scrollHeight) requestAnimationFrame(next);
    else resolve(frames.sort((a, b) => a - b));
  };
  requestAnimationFrame(next);
})`

// firstPaint is when there was something to see, from when the page was asked for.
const firstPaint = `new Promise((resolve) => new PerformanceObserver((list) => {
  for (const e of list.getEntries()) if (e.name === "first-contentful-paint") resolve(e.startTime);
}).observe({ type: "paint", buffered: true }))`

// unfoldLast opens the last result that is folded and gives how long that took.
const unfoldLast = `new Promise((resolve) => {
  const start = performance.now(), fold = [...document.querySelectorAll(".half.result details.fold")].at(-1);
  if (!fold) return resolve(0);
  fold.open = true;
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - start)));
})`

func awaited[T any](b *browser, script string) T {
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// browseHeavy measures what somebody sees: from asking for a page to its first
// content, while scrolling, and when a long result is unfolded.
func browseHeavy(b *testing.B, s *serving, middle int) {
	chrome := openBrowser(b, s.base, 10*time.Minute)
	var paint, jump, unfold, worst, usual []float64
	for b.Loop() {
		chrome.open("/r/1")
		paint = append(paint, awaited[float64](chrome, firstPaint))
		if frames := awaited[[]float64](chrome, scroll); len(frames) > 0 { // none of a page that fits
			usual, worst = append(usual, frames[len(frames)*95/100]), append(worst, frames[len(frames)-1])
		}
		unfold = append(unfold, awaited[float64](chrome, unfoldLast))
		chrome.open(fmt.Sprintf("/r1.%d", middle))
		jump = append(jump, awaited[float64](chrome, firstPaint))
	}
	mid := func(list []float64) float64 {
		if slices.Sort(list); len(list) == 0 {
			return 0
		}
		return list[len(list)/2]
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(mid(paint), "paint-ms")
	b.ReportMetric(mid(jump), "jump-ms")
	b.ReportMetric(mid(usual), "frame-p95-ms")
	b.ReportMetric(mid(worst), "frame-worst-ms")
	b.ReportMetric(mid(unfold), "unfold-ms")
	b.ReportMetric(s.peak(b), "peak-MB")
}
