package web_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// D-UI-01, typed into the field: every character is looked for as it stands.
func TestBrowserCase_SearchFieldTakesEveryCharacter(t *testing.T) {
	docs, ids := searchDocs(t)
	var expect struct{ Hits map[string][]string }
	if err := json.Unmarshal(caseFile(t, "D-UI-01/expect.json"), &expect); err != nil || len(expect.Hits) == 0 {
		t.Fatalf("%d queries, %v", len(expect.Hits), err)
	}
	b := startBrowser(t, options(openStore(t, docs)))
	for query, want := range expect.Hits {
		b.open("/search")
		b.do(chromedp.SendKeys(chromedp.CSS("input[type=search]"), query+"\r"))
		b.poll(`new URLSearchParams(location.search).get("q") === ` + quote(query) + ` && document.readyState === "complete"`)
		got := []string{}
		for _, ref := range eval[[]string](b, `[...document.querySelectorAll(".hit")].filter(h => h.innerText.includes("result")).map(h => new URL(h.href).pathname.slice(3))`) {
			if id := ids["x"+ref]; !slices.Contains(got, id) {
				got = append(got, id)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", query, got, want)
		}
		if shown := eval[string](b, `document.querySelector("input[type=search]").value`); shown != query {
			t.Errorf("%q stands in the field as %q", query, shown)
		}
	}
	b.quiet()
}

// D-UI-02: the digits that can be read on the screen are those that were sent.
func TestBrowserCase_NumbersKeepTheirDigits(t *testing.T) {
	b := startBrowser(t, options(openStore(t, []*transcript.Capture{numbered(1, "2512292042121000001"), numbered(2, "2512292042121000002")})))
	for _, target := range []string{"/r/1", "/x/1", "/x/1/wire", "/r/1/calls"} {
		b.open(target)
		text := eval[string](b, `document.body.innerText`)
		for _, digits := range []string{"2512292042121000001", "1.10", "1e400", "-0", "107505301260286111"} {
			if !strings.Contains(text, digits) {
				t.Errorf("%s: %s cannot be read", target, digits)
			}
		}
	}
	b.open("/compare?refs=x1+x2")
	if was, now := eval[string](b, `document.querySelector("#first del").innerText`), eval[string](b, `document.querySelector("#first ins").innerText`); !strings.HasSuffix(was, "1") || !strings.HasSuffix(now, "2") {
		t.Errorf("compared are %s and %s", was, now)
	}
	b.quiet()
}

// D-UI-03: a long run can be scrolled through, and every page of it has a bound.
func TestBrowserCase_LongRunIsReadToItsEnd(t *testing.T) {
	db := openStore(t, nil)
	for part := range slices.Chunk(chatRun(280, 1500), 40) {
		commit(t, db, part...)
	}
	b := startBrowser(t, options(db))
	pairs, pages := 0, 0
	for target := "/r/1"; target != ""; pages++ {
		b.open(target)
		if took := eval[float64](b, `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`); took > 4000 { // the floors are the benchmarks' to hold
			t.Errorf("%s was ready after %v ms", target, took)
		}
		pairs += eval[int](b, `document.querySelectorAll(".pair").length`)
		eval[bool](b, `(scrollTo(0, document.body.scrollHeight), true)`)
		target = strings.TrimPrefix(eval[string](b, `[...document.querySelectorAll(".left a")].filter(a => a.innerText.includes("more step")).map(a => a.href)[0] ?? ""`), b.base)
	}
	if pairs != 280 || pages < 2 {
		t.Errorf("%d calls on %d pages, want 280", pairs, pages)
	}
	b.quiet()
}

// noise is a PNG of so many pixels each way, which does not compress.
func noise(t *testing.T, side int) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	m := image.NewGray(image.Rect(0, 0, side, side))
	for i := range m.Pix {
		m.Pix[i] = byte(r.Uint32())
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// D-STO-02: an image can be seen, and its base64 is nowhere.
func TestBrowserCase_ImageIsSeen(t *testing.T) {
	picture := base64.StdEncoding.EncodeToString(noise(t, 160))
	b := startBrowser(t, options(openStore(t, []*transcript.Capture{pictured(picture)})))
	for _, target := range []string{"/r/1", "/x/1"} {
		b.open(target)
		eval[bool](b, `(document.querySelector(".picture img").scrollIntoView(), true)`)
		b.poll(`document.querySelector(".picture img").naturalWidth > 0`)
		if strings.Contains(eval[string](b, `document.body.innerText`), picture[:40]) {
			t.Errorf("%s: base64 is shown as text", target)
		}
	}
	b.quiet()
}

// D-SEC-01: the payload is read in every place, and runs in none.
func TestBrowserCase_PayloadIsReadAndNeverRun(t *testing.T) {
	text := string(caseFile(t, "D-SEC-01/payload.txt"))
	run := hostileRun(1, text)
	db := openStore(t, run)
	stored, err := db.RunN(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	o := options(db)
	o.Update = db.Update
	if err := db.Update(t.Context(), func(tx transcript.Tx) error {
		return tx.PutMarks(stored.ID, &transcript.Marks{Name: text, Tags: []string{text}, Note: text})
	}); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t, o)
	needle := strings.Join(strings.Fields(text), " ")
	for _, target := range []string{"/", "/exchanges", "/r/1", "/r/1/calls", "/x/1", "/x/2", "/x/3", "/x/1/wire", "/x/2/wire", "/tools?name=" + url.QueryEscape(text), "/search?q=" + url.QueryEscape(needle[:20])} {
		b.open(target)
		eval[bool](b, `document.querySelectorAll("details").forEach(d => d.open = true) ?? true`)
		if !eval[bool](b, `(document.body.textContent + [...document.querySelectorAll("[title]")].map(e => e.title).join()).replace(/\s+/g, " ").includes(`+quote(needle[:min(len(needle), 60)])+`)`) {
			t.Errorf("%s: the payload cannot be read", target)
		}
		if n := eval[int](b, `document.querySelectorAll("img, iframe, object, embed, base, style, script:not([src^='/static/'])").length`); n != 0 {
			t.Errorf("%s: %d elements came from text", target, n)
		}
	}
	b.quiet()
}

// D-SEC-02: a name that leads here, but is not ours, is shown nothing.
func TestBrowserCase_StrangeHostIsShownNothing(t *testing.T) {
	b := startBrowserWith(t, options(runStore(t)), chromedp.Flag("host-resolver-rules", "MAP *.example 127.0.0.1"))
	port := b.base[strings.LastIndex(b.base, ":"):]
	for _, host := range []string{"evil.example", "localhost.evil.example"} {
		for _, path := range []string{"/", "/r/1", "/x/1", "/api/runs", "/api/exchanges/1"} {
			b.do(chromedp.Navigate("http://" + host + port + path))
			if text := eval[string](b, `document.documentElement.innerText`); !strings.Contains(text, "This host name is not served here.") || strings.Contains(text, "parser") {
				t.Errorf("%s%s shows %.200q", host, path, text)
			}
		}
	}
	b.took()
	h := web.New(options(runStore(t)))
	var expect struct {
		Cases []struct{ Host, Expect string } `json:"http_cases"`
	}
	if err := json.Unmarshal(caseFile(t, "D-SEC-02/expect.json"), &expect); err != nil || len(expect.Cases) == 0 {
		t.Fatalf("%d cases, %v", len(expect.Cases), err)
	}
	for _, c := range expect.Cases {
		for _, path := range []string{"/", "/r/1", "/x/1", "/x/1/wire", "/x/1/request", "/search?q=parser", "/stats", "/api/runs", "/api/exchanges/1", "/export?format=jsonl&fetch=1"} {
			w := ask(h, "GET", path, "Host", strings.ReplaceAll(c.Host, "PORT", "7778"))
			if ok := w.Code < 300; ok != (c.Expect == "2xx") || w.Code >= 500 || !ok && strings.Contains(w.Body.String(), "parser") {
				t.Errorf("host %q, %s: status %d, want %s", c.Host, path, w.Code, c.Expect)
			}
		}
	}
}
