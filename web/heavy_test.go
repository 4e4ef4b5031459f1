package web_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// heavy makes a run that weighs about 200 MB. Its client sends its history again at
// each step, and puts a summary in the place of it when so many results are in it.
type heavy struct {
	name   string
	steps  int
	window int // results until the client writes a summary
	result func(h *heavy, n int) string

	r       *rand.Rand
	words   []string
	history bytes.Buffer
	held    int // results in it
	n       int // requests so far
}

// heavyRuns are the runs that BenchmarkHeavyRun opens.
func heavyRuns() []*heavy {
	return []*heavy{
		{name: "results", steps: 5000, window: 25, result: func(h *heavy, _ int) string { return quote(h.text(40_000)) }},
		{name: "huge", steps: 20, window: 4, result: func(h *heavy, n int) string { return quote(h.text(3_000_000 + n%5*4_250_000)) }},
		{name: "images", steps: 100, window: 10, result: func(h *heavy, _ int) string {
			return `[{"type":"text","text":"a screenshot"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + h.picture(1_500_000) + `"}}]`
		}},
	}
}

func (h *heavy) begin() {
	h.r = rand.New(rand.NewPCG(21, 22))
	for range 6000 {
		word := make([]byte, 2+h.r.IntN(9))
		for i := range word {
			word[i] = "etaoinshrdlucmfwyp"[h.r.IntN(18)]
		}
		h.words = append(h.words, string(word))
	}
	h.restart(`{"role":"user","content":"Mend what is broken"}`)
}

func (h *heavy) restart(first string) {
	h.history.Reset()
	fmt.Fprintf(&h.history, `{"model":"claude-opus-5-5","max_tokens":8000,"system":"You are a coding agent.","tools":[{"name":"read_file","description":"Reads a file.",`+
		`"input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}],"messages":[%s`, first)
	h.held = 0
}

// text makes lines of a file.
func (h *heavy) text(size int) string {
	var b strings.Builder
	for line := 1; b.Len() < size; line++ {
		fmt.Fprintf(&b, "%5d\tif %s := ", line, h.word())
		for range 4 + h.r.IntN(8) {
			b.WriteString(h.word())
			b.WriteByte(' ')
		}
		b.WriteString("{\n")
	}
	return b.String()[:size]
}

func (h *heavy) word() string { return h.words[h.r.IntN(len(h.words))] }

// picture makes what begins like a PNG of that size.
func (h *heavy) picture(size int) string {
	data := append(make([]byte, 0, size+8), "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"...)
	for len(data) < size {
		data = binary.LittleEndian.AppendUint64(data, h.r.Uint64())
	}
	return base64.StdEncoding.EncodeToString(data)
}

// next returns the captures of the next step: a call, and a summary if the window is
// full.
func (h *heavy) next(step int) (list []*transcript.Capture) {
	id := fmt.Sprintf("toolu_%016x", h.r.Uint64())
	path := fmt.Sprintf("%s/%s%d.go", h.word(), h.word(), step)
	said := fmt.Sprintf(`[{"type":"text","text":%s},{"type":"tool_use","id":"%s","name":"read_file","input":{"path":"%s"}}]`, quote("Next "+h.word()+" "+h.word()+"."), id, path)
	list = append(list, h.capture(said, "tool_use"))
	fmt.Fprintf(&h.history, `,{"role":"assistant","content":%s},{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":%s}]}`, said, id, h.result(h, step))
	if h.held++; h.held < h.window {
		return list
	}
	h.history.WriteString(`,{"role":"user","content":"Summarise this conversation so that you can go on from it."}`)
	summary := fmt.Sprintf("So far, up to step %d: %s", step, h.text(1500))
	list = append(list, h.capture(`[{"type":"text","text":`+quote(summary)+`}]`, "end_turn"))
	h.restart(`{"role":"user","content":` + quote("This session goes on from an earlier one. Its summary:\n\n"+summary) + `}`)
	return list
}

func (h *heavy) capture(answer, finish string) *transcript.Capture {
	h.n++
	at := time.Unix(1_700_000_000, 0).Add(time.Duration(h.n) * 10 * time.Second)
	request, tokens := h.history.String()+"]}", h.history.Len()/4
	return &transcript.Capture{
		ID: fmt.Sprintf("0196%04x-%04x-7000-8000-%012x", h.n>>16, h.n&0xffff, 0xabcdef), StartedAt: at, EndedAt: at.Add(4 * time.Second),
		Upstream: "anthropic", Method: "POST", URL: "https://api.anthropic.com/v1/messages", Status: 200, Outcome: transcript.OK, FirstByte: time.Second,
		RequestHeader:  map[string][]string{"Content-Type": {"application/json"}},
		ResponseHeader: map[string][]string{"Content-Type": {"application/json"}},
		Request:        heavyBody(request), Response: heavyBody(fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"claude-opus-5-5","content":%s,"stop_reason":"%s",`+
			`"usage":{"input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":60}}`, h.n, answer, finish, tokens/10, tokens-tokens/10)),
	}
}

type heavyBody string

func (b heavyBody) Size() int64 { return int64(len(b)) }
func (b heavyBody) Open() (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(string(b))), nil
}

// file returns a database with the run: one of RETAKE_BENCH_HEAVY, a folder, which is
// made if need be, or a new one.
func (h *heavy) file(b *testing.B) string {
	folder := os.Getenv("RETAKE_BENCH_HEAVY")
	if folder == "" {
		folder = b.TempDir()
	}
	path := filepath.Join(folder, h.name+".db")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	db, err := store.Open(path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	h.begin()
	committer := ingest.Committer{}
	for step := 1; step <= h.steps; step++ {
		if _, err := committer.Commit(b.Context(), db, h.next(step)); err != nil {
			b.Fatal(err)
		}
	}
	return path
}
