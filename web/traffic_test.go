package web_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// trafficStore holds what real clients sent and got.
func trafficStore(t *testing.T) *store.DB {
	t.Helper()
	files, err := filepath.Glob("../../shared/clients/traffic/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("there is no traffic of real clients here")
	}
	var all []*transcript.Capture
	for _, file := range files {
		all = append(all, trafficOf(t, file, len(all))...)
	}
	return openStore(t, all)
}

// trafficOf reads what one client sent; it is the next after so many others.
func trafficOf(t *testing.T, file string, before int) (list []*transcript.Capture) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r struct {
			Method, Target string
			Headers        [][2]string
			Body           string `json:"body_b64"`
			Resp           struct {
				Status int
				Body   string `json:"body_b64"`
			}
		}
		if json.Unmarshal(lines.Bytes(), &r) != nil || r.Method != "POST" || r.Resp.Status != 200 {
			continue
		}
		c := capture(before+len(list)+1, r.Target, 200, plain(t, r.Body), plain(t, r.Resp.Body))
		for _, h := range r.Headers {
			if name := strings.ToLower(h[0]); name != "authorization" && !strings.Contains(name, "key") && name != "content-length" {
				c.RequestHeader[h[0]] = append(c.RequestHeader[h[0]], h[1])
			}
		}
		list = append(list, c)
	}
	return list
}

func plain(t *testing.T, b64 string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(b64)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// joined returns the ids of the calls of a run that have a result, as stored.
func joined(t *testing.T, db *store.DB, run string) []string {
	t.Helper()
	ids := map[string]bool{}
	for e, err := range db.Exchanges(t.Context(), transcript.Filter{Run: run}) {
		if err != nil {
			t.Fatal(err)
		}
		calls, err := db.Calls(t.Context(), []string{e.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			if len(c.Results) > 0 {
				ids[c.CallID] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// Every run of real clients: what is joined stands beside its result, and nothing
// of what they sent becomes markup.
func TestRun_OfRealClientsShowsEachCallWithItsResult(t *testing.T) {
	db := trafficStore(t)
	h := web.New(options(db))
	runs, pairs := 0, 0
	list, err := db.Runs(t.Context(), transcript.RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		r := &list[i]
		p := open(t, h, fmt.Sprintf("/r/%d", r.N))
		shown := map[string]bool{}
		for _, pair := range p.class("pair") {
			if ids := pair.class("id"); len(ids) > 0 && len(pair.class("result")) > 0 && len(pair.class("gap")) == 0 {
				shown[ids[0].attr("title")] = true
			}
		}
		want := joined(t, db, r.ID)
		if got := slices.Sorted(maps.Keys(shown)); !slices.Equal(got, want) {
			t.Errorf("r%d %s: %q stand with a result, want %q", r.N, r.Name, got, want)
		}
		for _, bad := range markup(p) {
			t.Errorf("r%d: %s", r.N, bad)
		}
		runs, pairs = runs+1, pairs+len(want)
	}
	if runs < 30 || pairs < 30 {
		t.Errorf("only %d runs with %d calls that have a result", runs, pairs)
	}
}

func TestBrowser_RunsOfRealClientsAreInert(t *testing.T) {
	db := trafficStore(t)
	b := startBrowser(t, options(db))
	b.open("/")
	n := 0
	list, err := db.Runs(t.Context(), transcript.RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		r := &list[i]
		b.open(fmt.Sprintf("/r/%d", r.N))
		beside := eval[bool](b, `[...document.querySelectorAll(".pair")].every(p => {
			const call = p.querySelector(".half.call"), result = p.querySelector(".half.result");
			if (!call || !result || !p.offsetParent) return true;
			const a = call.getBoundingClientRect(), z = result.getBoundingClientRect();
			return a.right <= z.left + 1 && Math.abs(a.top - z.top) < 2;
		})`)
		if !beside {
			t.Errorf("r%d: a call and its result do not stand side by side", r.N)
		}
		n++
	}
	if n == 0 {
		t.Error("there is no run")
	}
	b.quiet()
}
