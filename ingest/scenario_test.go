package ingest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest/reindex"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// A scenario is a small piece of traffic with how it belongs together. One file
// holds many:
//
//	== name
//	api: chat messages        those that it is about; all three if there is none
//	x1 id=resp_1 model=m …    an exchange, in the order in which they begin
//	  t f                     what it sends: tool, system, user, answer, call, result …
//	  u Do it
//	  = c call_1 f {"a":1}    what it gets
//	want x1 r1 a1 1.1         run, agent, step.attempt, then parent and evidence if any
//	want x2 r1 a1 2.1 < x1 history
//	change x2 system tools    what is otherwise than before
//	order x2 x1               in which they are taken in, if it is another
//	say x2 link x1            what a user says once all are stored
type scenario struct {
	name    string
	apis    []string
	scripts []script
	want    map[string]string
	changes map[string]string
	order   []string
	say     []string
}

func parseScenarios(t *testing.T, path string) []scenario {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []scenario
	for n, line := range strings.Split(string(text), "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if name, ok := strings.CutPrefix(line, "== "); ok {
			all = append(all, scenario{name: name, apis: []string{"chat", "messages", "responses"}, want: map[string]string{}, changes: map[string]string{}})
			continue
		}
		if len(all) == 0 {
			t.Fatalf("%s:%d: no scenario yet", path, n+1)
		}
		all[len(all)-1].line(t, line)
	}
	return all
}

func (sc *scenario) line(t *testing.T, line string) {
	t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "api:":
		sc.apis = strings.Fields(rest)
	case "want":
		name, what, _ := strings.Cut(rest, " ")
		sc.want[name] = what
	case "change":
		name, what, _ := strings.Cut(rest, " ")
		sc.changes[name] = what
	case "order":
		sc.order = strings.Fields(rest)
	case "say":
		sc.say = append(sc.say, rest)
	case "":
		s := &sc.scripts[len(sc.scripts)-1]
		text := strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(text, "= "); ok {
			s.output = append(s.output, parsePart(t, text))
		} else if text, ok := strings.CutPrefix(text, "| "); ok {
			s.choice = append(s.choice, parsePart(t, text))
		} else {
			s.input = append(s.input, parsePart(t, text))
		}
	default:
		sc.scripts = append(sc.scripts, parseExchange(t, len(sc.scripts)+1, word, rest))
	}
}

func parseExchange(t *testing.T, n int, name, options string) script {
	t.Helper()
	s := script{n: n, name: name}
	for _, option := range strings.Fields(options) {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "id":
			s.id = value
		case "prev":
			s.prev = value
		case "conv":
			s.conv = value
		case "status":
			s.status, _ = strconv.Atoi(value)
		case "model":
			s.model = value
		case "upstream":
			s.upstream = value
		case "api":
			s.api = value
		case "label":
			s.label = value
		case "get":
			s.method, s.target = "GET", value
		case "post":
			s.target = value
		case "state":
			s.answerStatus = value
		case "replaces":
			s.replaces = true
		case "at":
			d, err := time.ParseDuration(value)
			if err != nil {
				t.Fatal(err)
			}
			s.at = d
		case "same": // the headers of a client that names its session
			session, agent, _ := strings.Cut(value, "/")
			s.headers = append(s.headers, "X-Claude-Code-Session-Id: "+session)
			if agent != "" {
				s.headers = append(s.headers, "X-Claude-Code-Agent-Id: "+agent)
			}
		case "client":
			s.headers = append(s.headers, "User-Agent: "+value)
		default:
			t.Fatalf("no such option: %s", option)
		}
	}
	return s
}

// placed tells where each exchange is, as the wants of a scenario do.
func (sc *scenario) placed(stored map[string]*transcript.Exchange) map[string]string {
	runs, agents, names := map[string]int{}, map[string]int{}, map[string]string{}
	number := func(of map[string]int, id string) int {
		if _, ok := of[id]; !ok {
			of[id] = len(of) + 1
		}
		return of[id]
	}
	for _, s := range sc.scripts {
		names[stored[s.name].ID] = s.name
	}
	got := map[string]string{}
	for _, s := range sc.scripts {
		l := stored[s.name].Link
		text := fmt.Sprintf("r%d side", number(runs, l.Run))
		if !l.Side {
			text = fmt.Sprintf("r%d a%d %d.%d", number(runs, l.Run), number(agents, l.Agent), l.Step, l.Attempt)
		}
		if l.Parent != "" {
			text += " < " + names[l.Parent]
		}
		if l.By != "" {
			text += " " + l.By
		}
		got[s.name] = text
	}
	return got
}

func changed(c transcript.Change) string {
	var words []string
	for word, is := range map[string]bool{"system": c.System, "tools": c.Tools, "model": c.Model != "", "dialect": c.Dialect != "", "upstream": c.Upstream != "",
		"handoff": c.Handoff, "compacted": c.Compacted, "rewritten": c.Rewritten} {
		if is {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// tally counts links: those that should be, those that are, those that are right.
type tally struct {
	mu                  sync.Mutex
	wanted, made, right int
}

func (a *tally) add(want, got string) {
	parent := func(s string) string {
		_, after, _ := strings.Cut(s, "< ")
		name, _, _ := strings.Cut(after, " ")
		return name
	}
	w, g := parent(want), parent(got)
	a.mu.Lock()
	defer a.mu.Unlock()
	if w != "" {
		a.wanted++
	}
	if g != "" {
		a.made++
	}
	if w != "" && w == g {
		a.right++
	}
}

func (a *tally) precision() float64 { return float64(a.right) / float64(max(a.made, 1)) }
func (a *tally) recall() float64    { return float64(a.right) / float64(max(a.wanted, 1)) }

func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var links tally
	count := 0
	t.Run("all", func(t *testing.T) {
		for _, file := range files {
			for _, sc := range parseScenarios(t, file) {
				count++
				for _, api := range sc.apis {
					t.Run(sc.name+"/"+api, func(t *testing.T) {
						t.Parallel()
						sc.run(t, api, &links)
					})
				}
			}
		}
	})
	if count < 40 {
		t.Errorf("%d scenarios, want at least 40", count)
	}
	t.Logf("%d scenarios, %d links: precision %.4f, recall %.4f", count, links.wanted, links.precision(), links.recall())
	if links.precision() < 1 || links.recall() < 1 {
		t.Error("want all links to be right")
	}
}

func (sc *scenario) run(t *testing.T, api string, links *tally) {
	db := mustOpen(t)
	ids := sc.commit(t, db, api)
	ctx := context.Background()
	for _, word := range sc.say {
		f := strings.Fields(word)
		o := transcript.Override{Exchange: ids[f[0]], Verb: transcript.Verb(f[1]), At: began}
		if len(f) > 2 {
			o.To = ids[f[2]]
		}
		err := db.Update(ctx, func(tx transcript.Tx) error {
			if o.Verb == "nothing" { // what was said is taken back
				_, err := tx.DropOverride(o.Exchange)
				return err
			}
			return tx.PutOverride(&o)
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reindex.Relink(ctx, db, o.Exchange); err != nil {
			t.Fatal(err)
		}
	}
	sc.check(t, "as it came", sc.read(t, db, ids), links)
	found, err := reindex.Compare(ctx, db, nil)
	if err != nil || len(found) > 0 {
		t.Errorf("derived again it differs: %v, %v", found, err)
	}
	did, err := reindex.Run(ctx, db, "test", nil)
	if err != nil || did.Changed != 0 {
		t.Errorf("reindex changed %d exchanges, %v", did.Changed, err)
	}
	sc.check(t, "after reindex", sc.read(t, db, ids), &tally{})
}

func (sc *scenario) commit(t *testing.T, db *store.DB, api string) map[string]string {
	t.Helper()
	captures, ids := map[string]*transcript.Capture{}, map[string]string{}
	var order []string
	for _, s := range sc.scripts {
		if s.api == "" {
			s.api = api
		}
		captures[s.name] = s.capture()
		ids[s.name] = captures[s.name].ID
		order = append(order, s.name)
	}
	if sc.order != nil {
		order = sc.order
	}
	for _, name := range order {
		commit(t, db, captures[name])
	}
	return ids
}

func (sc *scenario) read(t *testing.T, db *store.DB, ids map[string]string) map[string]*transcript.Exchange {
	t.Helper()
	stored := map[string]*transcript.Exchange{}
	for name, id := range ids {
		e, err := db.Exchange(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		stored[name] = e
	}
	return stored
}

func (sc *scenario) check(t *testing.T, when string, stored map[string]*transcript.Exchange, links *tally) {
	t.Helper()
	got := sc.placed(stored)
	if len(sc.want) == 0 {
		t.Fatal("the scenario wants nothing")
	}
	for name, want := range sc.want {
		links.add(want, got[name])
		if got[name] != want {
			t.Errorf("%s: %s is %q, want %q (%s)", when, name, got[name], want, stored[name].Link.Evidence)
		}
	}
	for name, want := range sc.changes {
		words := strings.Fields(want)
		slices.Sort(words)
		if c := changed(stored[name].Link.Change); c != strings.Join(words, " ") {
			t.Errorf("%s: %s changes %q, want %q", when, name, c, want)
		}
	}
}
