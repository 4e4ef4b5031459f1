package web_test

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// TestBrowser_PagesAreAccessible lets axe-core look at each page, light and dark.
// RETAKE_AXE names its axe.min.js (npm install axe-core).
func TestBrowser_PagesAreAccessible(t *testing.T) {
	file := os.Getenv("RETAKE_AXE")
	if file == "" {
		t.Skip("RETAKE_AXE names no axe.min.js: the pages are not looked at by axe-core")
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	db, replaying := replayViewer(t)
	sampled := playSample(t, db, replaying)
	searched, models := playSearch(t, db, replaying), playModels(t, db, replaying)
	_, empty := importViewer(t)
	for _, site := range []struct {
		b       *browser
		targets []string
	}{
		{startBrowser(t, options(runStore(t))), append(newPages(), "/", "/r/1", "/exchanges")},
		{startBrowser(t, options(sampleStore(t))), []string{"/x/2", "/x/4", "/x/5", "/x/7", "/x/10", "/x/2/wire", "/x/8/wire", "/r/4/findings", "/nowhere"}},
		{startBrowser(t, replaying), []string{"/x/3/replay", "/t/1", "/r/1", "/t/10", "/x/3/link", sampled, searched, models, "/x/3/minimise", "/x/2/replay"}},
		{startBrowser(t, empty), []string{"/import", "/"}},
	} {
		for _, scheme := range []string{"light", "dark"} {
			if _, err := chromedp.Call(site.b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			}); err != nil {
				t.Fatal(err)
			}
			for _, target := range site.targets {
				site.b.open(target)
				for _, found := range violations(site.b, string(axe)) {
					t.Errorf("%s, %s: %s", target, scheme, found)
				}
			}
		}
		site.b.took() // the browser logs a status of 404
	}
}

// violations returns what axe-core finds serious or critical.
func violations(b *browser, axe string) []string {
	b.t.Helper()
	eval[bool](b, axe+"; true")
	found, err := chromedp.Call(b.ctx, runtime.Evaluate, runtime.EvaluateParams{AwaitPromise: new(true), ReturnByValue: new(true), Expression: `axe.run({resultTypes: ["violations"]}).then((r) => r.violations
		.filter((v) => v.impact === "serious" || v.impact === "critical")
		.map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.target.join(" ") + " " + n.failureSummary.split("\n").slice(1, 2)).join("; ")).join("\n"))`})
	if err != nil {
		b.t.Fatal(err)
	}
	if found.ExceptionDetails != nil {
		b.t.Fatal(found.ExceptionDetails.Text)
	}
	text := strings.Trim(string(found.Result.Value), `"`)
	if text == "" {
		return nil
	}
	return strings.Split(text, `\n`)
}
