package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/replay/sample"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// routesOf returns the addresses of all routes of a viewer with that method, made
// concrete over replayViewer.
func routesOf(t *testing.T, h http.Handler, method string) []string {
	t.Helper()
	engine, ok := h.(*gin.Engine)
	if !ok {
		t.Fatal("the viewer is no gin engine: its routes cannot be told")
	}
	var list []string
	for _, r := range engine.Routes() {
		if r.Method != method {
			continue
		}
		path := strings.NewReplacer(":group", "0190a000-0000-7000-8000-00000000aaaa", ":ref", "1", ":n", "1", ":name", "retake.css", ":version", "1").Replace(r.Path)
		if strings.Contains(path, ":") {
			t.Fatalf("%s has a part that this test does not know", r.Path)
		}
		list = append(list, path)
	}
	if len(list) == 0 {
		t.Fatalf("no route for %s", method)
	}
	return list
}

// strangeHosts are those of the case D-SEC-02 that are refused.
func strangeHosts(t *testing.T) []string {
	t.Helper()
	hosts := []string{"evil.example", "evil.example:7778", "localhost.evil.example:7778", "127.0.0.1.evil.example", "", "169.254.169.254"}
	text, err := os.ReadFile("../../shared/cases/inputs/D-SEC-02/http_cases.json")
	if err != nil {
		return hosts
	}
	var cases []struct{ Host, Expect string }
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if host := strings.Replace(c.Host, "PORT", "7778", 1); c.Expect == "4xx" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// send makes a form, or an upload, that a page of the viewer might send.
func send(h http.Handler, target, token string, header ...string) *httptest.ResponseRecorder {
	if target == "/import" {
		return upload(h, token, []uploaded{{"a.jsonl", chatLine}}, header...)
	}
	form := url.Values{"verb": {"unlink"}, "send": {"1"}, "name": {"stolen"}}
	if token != "" {
		form.Set("form", token)
	}
	r := httptest.NewRequest("POST", target, strings.NewReader(form.Encode()))
	r.Host = "127.0.0.1:7778"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestChanges_EveryPostWantsItsOwnPage(t *testing.T) {
	db, o := replayViewer(t)
	o.AllowOrigins = []string{"https://tools.example"}
	h := web.New(o)
	token := hidden(t, open(t, h, "/x/1/link"))
	before := exchangesIn(t, db)
	reader := web.New(options(db))
	for _, target := range routesOf(t, h, "POST") {
		if target == "/login" {
			continue
		}
		refused := map[string]*httptest.ResponseRecorder{
			"no token":             send(h, target, ""),
			"a wrong token":        send(h, target, "guess"),
			"a foreign origin":     send(h, target, token, "Origin", "https://evil.example"),
			"an origin that reads": send(h, target, token, "Origin", "https://tools.example"),
			"another port":         send(h, target, token, "Origin", "http://127.0.0.1:3000", "Sec-Fetch-Site", "same-site"),
			"another site":         send(h, target, token, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"),
			"only a reader":        send(reader, target, token),
		}
		for _, host := range strangeHosts(t) {
			refused["host "+host] = send(h, target, token, "Host", host)
		}
		for name, w := range refused {
			if w.Code != http.StatusForbidden {
				t.Errorf("%s, %s: status %d", target, name, w.Code)
			}
		}
		if w := ask(h, "GET", target+"?form="+token+"&send=1&verb=unlink"); w.Code >= 300 && w.Code < 400 {
			t.Errorf("GET %s does something: status %d, to %s", target, w.Code, w.Header().Get("Location"))
		}
	}
	if takes, err := db.Takes(t.Context(), ""); err != nil || len(takes) != 1 || exchangesIn(t, db) != before {
		t.Errorf("%d takes, %v: something was changed", len(takes), err)
	}
	if m, err := db.Runs(t.Context(), transcript.RunFilter{}); err != nil || len(m) != 1 || m[0].Marks.Name != "" {
		t.Errorf("runs %+v, %v: something was changed", m, err)
	}
}

func TestGuard_NoRouteServesAStrangeHost(t *testing.T) {
	_, o := replayViewer(t)
	h := web.New(o)
	for _, target := range routesOf(t, h, "GET") {
		for _, host := range strangeHosts(t) {
			if w := ask(h, "GET", target, "Host", host); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "How warm") {
				t.Errorf("%s for %q: status %d", target, host, w.Code)
			}
		}
	}
}

func TestHostileText_InReportsOfSamples(t *testing.T) {
	db, o := replayViewer(t)
	const group = "0190a000-0000-7000-8000-00000000aaaa"
	effect, p := 0.5, 0.01
	hostile := payload + reordering
	arm := func() sample.ArmResult {
		return sample.ArmResult{Name: hostile, N: 2, Yes: 1, Model: hostile, Outcomes: []sample.OutcomeCount{{Label: hostile, Count: 2}}, Takes: []string{hostile}}
	}
	text, err := json.Marshal(&sample.Report{Group: group, Origin: lastStep(t, db).ID, Arms: []sample.ArmResult{arm(), arm()}, Primary: hostile, Effect: &effect, Interval: &[2]float64{0, 1}, PValue: &p,
		Verdict: hostile, Stopped: hostile, Secondary: []sample.Comparison{{Name: hostile, Arms: [2]string{hostile, hostile}, PValue: 0.01}}})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx transcript.Tx) error {
		if err := tx.SetNote("sample "+group, string(text)); err != nil {
			return err
		}
		return tx.PutTake(&transcript.Take{ID: "0190a000-0000-7000-8000-00000000bbbb", Origin: lastStep(t, db).ID, Group: group, Arm: hostile, Reason: hostile, Edits: "[]", CreatedAt: day,
			StopReason: transcript.StopOpenCalls, Outcome: transcript.OK})
	})
	if err != nil {
		t.Fatal(err)
	}
	h := web.New(o)
	for _, target := range []string{"/samples/" + group, "/t/2"} {
		page := open(t, h, target)
		for _, bad := range markup(page) {
			t.Errorf("%s: %s", target, bad)
		}
		wantText(t, page, payload[:20])
		if at := strings.IndexAny(ask(h, "GET", target).Body.String(), "\u202E\u202C\u200B\U000E0041\x1b"); at >= 0 {
			t.Errorf("%s: a hidden character at byte %d", target, at)
		}
	}
}
