package web_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/retake-debugger/retake/ingest"
)

// Steps behind the page come while somebody scrolls, and the place is kept.
func TestBrowser_MoreStepsComeWhileScrolling(t *testing.T) {
	db := openStore(t, nil)
	h := &heavy{steps: 130, window: 1000, result: func(h *heavy, _ int) string { return quote(h.text(300)) }}
	h.begin()
	committer := ingest.Committer{}
	for step := 1; step <= h.steps; step++ {
		if _, err := committer.Commit(t.Context(), db, h.next(step)); err != nil {
			t.Fatal(err)
		}
	}
	b := startBrowser(t, options(db))
	b.open("/r/1")
	steps := func() int { return eval[int](b, `document.querySelectorAll("main > .step").length`) }
	if n := steps(); n != 100 {
		t.Fatalf("%d steps at first, want 100", n)
	}
	await := func(what, script string) {
		t.Helper()
		for range 100 {
			if eval[bool](b, script) {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatalf("%s did not come about; the address is %s", what, eval[string](b, `location.href`))
	}
	eval[bool](b, `(scrollTo(0, document.body.scrollHeight), true)`)
	await("all steps", `document.querySelectorAll("main > .step").length === 130 && !document.querySelector("[data-more]")`)
	eval[bool](b, `(document.getElementById("x120").scrollIntoView(), true)`)
	await("the address of the second page", `location.search === "?from=100"`)
	at := eval[string](b, `location.hash`)
	if at != "#x120" && at != "#x119" {
		t.Errorf("the place is %s", at)
	}
	b.do(chromedp.Reload())
	if n := eval[int](b, `document.querySelectorAll("main > .step").length`); n != 30 {
		t.Errorf("%d steps after a reload, want those of the second page", n)
	}
	if y := eval[float64](b, `document.querySelector(location.hash).getBoundingClientRect().top`); y < -300 || y > 900 {
		t.Errorf("after a reload the step stands at %v", y)
	}
	b.quiet()
}
