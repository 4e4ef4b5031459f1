package web_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Pages are read without scripts: what they show is there, folds open, links and
// forms lead on, and nothing is promised that only a script could do.
func TestBrowser_PagesAreReadWithoutScripts(t *testing.T) {
	b := startBrowser(t, options(runStore(t)))
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	for target, wants := range map[string][]string{
		"/": {"r1", "claude-opus-5-5"}, "/exchanges": {"x1", "ok tool_use"}, "/r/1": {"step 1", "I will read the parser", "exit status 1"}, "/x/2": {"request", "answer"},
		"/x/2/wire": {"request", "response", "body, laid out", "usage"}, "/x/2/link": {"continues", "evidence"}, "/r/1/calls": {"read_file"}, "/r/1/findings": {"Findings"}, "/r/1/time": {"Time", "Context"},
		"/r/1/export?format=markdown": {"Download", userText}, "/search?q=parse": {"parse"}, "/tools": {"read_file"}, "/tools?name=read_file": {"shapes of its results"}, "/stats": {"By model"},
		"/compare?refs=x1+x5": {"what was said and done"}, "/compare?refs=x1+x5+x7": {"left x1"}, "/import": {"Take files in"}, "/nowhere": {"Not found"}, "/x/2/details?side=response&at=/content/0": {"arguments", "Change this result"},
	} {
		b.open(target)
		text := eval[string](b, `document.body.innerText`)
		wantIn(t, target, text, wants...)
		if n := eval[int](b, `[...document.querySelectorAll("button[data-copy], footer.keys, dialog, .panel .how")].filter(e => e.checkVisibility()).length`); n != 0 {
			t.Errorf("%s: %d things are shown that only a script could do", target, n)
		}
	}
	b.open("/r/1")
	b.do(chromedp.Click(chromedp.CSS("main details.fold > summary")))
	if !eval[bool](b, `document.querySelector("main details.fold").open`) {
		t.Error("a fold does not open")
	}
	b.do(chromedp.Click(chromedp.CSS(".menu summary")), chromedp.Click(chromedp.CSS(".menu-items a[href$='format=markdown']")), chromedp.WaitReady(chromedp.CSS("a.fetch")))
	b.open("/")
	b.do(chromedp.SendKeys(chromedp.CSS("input[name=q]"), "tool:none"), chromedp.Click(chromedp.CSS(".filter button")), chromedp.WaitReady(chromedp.CSS(".empty")))
	b.open("/")
	b.do(chromedp.Click(chromedp.CSS("#r1 input")), chromedp.Click(chromedp.CSS("#compare button")), chromedp.WaitReady(chromedp.CSS("input[name=refs]")))
	b.took()
}
