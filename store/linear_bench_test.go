package store_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// BenchmarkRun_Steps prints what a step costs in runs of 100, 300 and 1,000
// steps of 2.5 KB with a prefix of 20 KB: bytes of the file and CPU.
func BenchmarkRun_Steps(b *testing.B) {
	for _, marked := range []int{0, 3} {
		for _, steps := range []int{100, 300, 1000} {
			b.Run(fmt.Sprintf("%d old elements change/%d", marked, steps), func(b *testing.B) {
				for b.Loop() {
					c := newConversation(1, 20_000)
					c.marked = marked
					bodies := make([][][]byte, steps)
					for i := range bodies {
						bodies[i] = c.next(2500)
					}
					db, path := benchFile(b)
					before := cpuTime()
					raw := putRun(b, db, "run", bodies)
					spent := cpuTime() - before
					grown := grownBy(b, db, path)
					b.ReportMetric(float64(grown)/float64(steps), "file-B/step")
					b.ReportMetric(float64(spent.Microseconds())/float64(steps), "cpu-µs/step")
					b.ReportMetric(float64(raw)/float64(grown), "times-smaller")
				}
			})
		}
	}
}

// BenchmarkRun_Zstd stores a run whose client compresses its requests: the wire
// bytes share nothing from step to step, and are kept.
func BenchmarkRun_Zstd(b *testing.B) {
	const steps = 200
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c := newConversation(1, 20_000)
		var bodies [][][]byte
		var plain int64
		for range steps {
			var whole []byte
			for _, p := range c.next(2500) {
				whole = append(whole, p...)
			}
			plain += int64(len(whole))
			bodies = append(bodies, [][]byte{encoder.EncodeAll(whole, nil)})
		}
		db, path := benchFile(b)
		wire := putRun(b, db, "run", bodies)
		grown := grownBy(b, db, path)
		b.ReportMetric(float64(grown)/steps, "file-B/step")
		b.ReportMetric(float64(plain)/float64(grown), "times-smaller-than-plain")
		b.ReportMetric(float64(wire)/float64(grown), "times-smaller-than-wire")
	}
}

// BenchmarkTranscripts stores long recorded conversations as the requests that
// their agents must have sent: at each answer all that was there before it.
func BenchmarkTranscripts(b *testing.B) {
	var files []string
	_ = filepath.WalkDir("../../shared/corpus/long/dev", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return nil
	})
	if len(files) == 0 {
		b.Skip("no transcripts in ../../shared/corpus/long/dev")
	}
	for b.Loop() {
		db, path := benchFile(b)
		var all, before int64
		before = size(b, db)
		for _, name := range files {
			bodies := requestsOf(name)
			raw := putRun(b, db, name, bodies)
			now := size(b, db)
			if raw > 0 {
				b.Logf("%-50.50s %4d requests %11d bytes, the database grew by %9d: 1/%.0f", filepath.Base(name), len(bodies), raw, now-before, float64(raw)/float64(max(now-before, 1)))
			}
			all, before = all+raw, now
		}
		grown := grownBy(b, db, path)
		b.Logf("together %d bytes, the file grew by %d", all, grown)
		b.ReportMetric(float64(all)/float64(grown), "times-smaller")
	}
}

// requestsOf returns the requests of the conversations in a file: what was there
// before each answer.
func requestsOf(name string) [][][]byte {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	var bodies [][][]byte
	for _, messages := range conversationsIn(raw) {
		history := [][]byte{[]byte(`{"model":"m","messages":[`)}
		answering := false
		for _, m := range messages {
			answer := isAnswer(m)
			if answer && !answering {
				bodies = append(bodies, append(history[:len(history):len(history)], []byte(`]}`)))
			}
			answering = answer
			if len(history) > 1 {
				m = append([]byte(","), m...)
			}
			history = append(history, m)
		}
	}
	return bodies
}

// isAnswer reports whether a message, as tools write it to their logs, came from
// the model.
func isAnswer(m json.RawMessage) bool {
	var is struct{ Role, Type string }
	_ = json.Unmarshal(m, &is)
	switch is.Type {
	case "assistant", "gemini", "reasoning", "function_call", "custom_tool_call":
		return true
	}
	return is.Role == "assistant" || is.Role == "model"
}

// conversationsIn finds lists of messages: in a list of entries that each hold
// one, in an object, or in lines of which each is one message.
func conversationsIn(raw []byte) [][]json.RawMessage {
	var entries []map[string]json.RawMessage
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &entries) != nil && json.Unmarshal(raw, &object) == nil {
		entries = append(entries, object)
	}
	var found [][]json.RawMessage
	for _, e := range entries {
		for _, name := range []string{"messages", "history", "traj"} {
			var list []json.RawMessage
			if json.Unmarshal(e[name], &list) == nil && len(list) > 0 {
				found = append(found, list)
			}
		}
	}
	if entries != nil {
		return found
	}
	var lines []json.RawMessage
	for line := range bytes.Lines(raw) {
		var record map[string]json.RawMessage
		if json.Unmarshal(line, &record) != nil {
			continue
		}
		for _, name := range []string{"message", "payload"} {
			if record[name] != nil {
				lines = append(lines, record[name])
			}
		}
	}
	return [][]json.RawMessage{lines}
}

func benchFile(b *testing.B) (*store.DB, string) {
	path := filepath.Join(b.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return db, path
}

// putRun stores each request in a transaction of its own, and returns how many
// bytes they are.
func putRun(b *testing.B, db *store.DB, run string, bodies [][][]byte) (raw int64) {
	for i, body := range bodies {
		e := example(i)
		e.ID = fmt.Sprint(run, " ", i)
		e.Response.Chunks = nil
		if err := db.Update(b.Context(), func(tx transcript.Tx) error { return putStep(tx, e, body, nil) }); err != nil {
			b.Fatal(err)
		}
		raw += e.Request.Bytes
	}
	return raw
}

// size is what the pages of the database take up.
func size(b *testing.B, db *store.DB) int64 {
	return number(b, db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
}

// grownBy closes a database and returns by how much its file is larger than an
// empty one.
func grownBy(b *testing.B, db *store.DB, path string) int64 {
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	empty, emptyPath := benchFile(b)
	if err := empty.Close(); err != nil {
		b.Fatal(err)
	}
	var sizes [2]int64
	for i, name := range []string{path, emptyPath} {
		info, err := os.Stat(name)
		if err != nil {
			b.Fatal(err)
		}
		sizes[i] = info.Size()
	}
	return sizes[0] - sizes[1]
}
