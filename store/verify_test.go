package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/store"
)

func TestVerify_FindsDamage(t *testing.T) {
	for name, c := range map[string]struct {
		damage string
		parts  []string // of the problems that must be found, for any exchange
		text   string
	}{
		"nothing":        {"SELECT 1", nil, ""},
		"pack changed":   {"UPDATE part_pack SET data = zeroblob(length(data))", []string{"request"}, "damaged"},
		"pack swapped":   {"UPDATE part_pack SET data = (SELECT data FROM whole_pack LIMIT 1)", []string{"request"}, "damaged"},
		"pack lost":      {"DELETE FROM whole_pack", []string{"response"}, "not found"},
		"lengths":        {"UPDATE part_pack SET lengths = x'01'", []string{"request"}, "damaged"},
		"recipe changed": {"UPDATE body SET recipe = x'0000020001' WHERE n = 3", []string{"request"}, ""},
		"recipe lost":    {"DELETE FROM body WHERE n = 5", []string{"request"}, ""},
		"recipe cycle":   {"UPDATE body SET base = 9 WHERE n = 1", []string{"request"}, "damaged"},
		"length":         {"UPDATE exchange SET response_bytes = response_bytes + 1 WHERE n = 2", []string{"response"}, "bytes instead of"},
		"hash":           {"UPDATE exchange SET request_sha256 = zeroblob(32) WHERE n = 2", []string{"request"}, "SHA-256"},
		"chunks":         {"UPDATE exchange SET chunks = x'80' WHERE n = 4", []string{"exchange"}, "chunks are damaged"},
		"headers":        {"UPDATE exchange SET request_headers = x'7f' WHERE n = 4", []string{"exchange"}, "header names"},
		"model lost":     {"DELETE FROM model", []string{"exchange"}, ""},
		"warnings":       {"UPDATE exchange SET warnings = '[' WHERE n = 4", []string{"exchange"}, "warnings"},
		"lookups lost":   {"DELETE FROM lookup_new", []string{"lookup"}, "not found by"},
		"lookup changed": {"UPDATE lookup_new SET target = target + 1 WHERE key = (SELECT min(key) FROM lookup_new)", []string{"lookup"}, "not found by"},
		"lookups gone":   {"DROP TABLE lookup", []string{"lookup"}, "no such table"},
		"index":          {"PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'exchange_parent'; PRAGMA writable_schema = OFF", []string{"database"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "retake.db")
			db, err := store.Open(path, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			record(t, db, newConversation(1, 2000), 1, 20, 500)
			if err := db.Exec(c.damage); err != nil {
				t.Fatal(err)
			}
			reader, err := store.OpenReader(path)
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			var done, total int
			problems, err := reader.Verify(t.Context(), func(d, n int) { done, total = d, n })
			if err != nil {
				t.Fatal(err)
			}
			if total != 20 || done > total || len(c.parts) == 0 && done != 20 {
				t.Errorf("progress ended at %d of %d", done, total)
			}
			found := map[string]bool{}
			for _, p := range problems {
				found[p.Part] = true
				if !strings.Contains(p.Text, c.text) {
					t.Errorf("x%d %s: %q does not speak of %q", p.N, p.Part, p.Text, c.text)
				}
			}
			for _, part := range c.parts {
				if !found[part] {
					t.Errorf("no problem with a %s in %v", part, problems)
				}
			}
			if len(problems) > 0 != (len(c.parts) > 0) {
				t.Errorf("problems: %v", problems)
			}
		})
	}
}

// Bits that flip anywhere in the file are noticed or do not matter; the rest
// stays readable.
func TestVerify_FlippedBits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	record(t, db, newConversation(1, 2000), 1, 60, 4000)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	noticed, tried := 0, 0
	for at := 20_011; at < len(whole); at += len(whole) / 60 {
		damaged := append([]byte(nil), whole...)
		damaged[at] ^= 0x40
		file := filepath.Join(t.TempDir(), "damaged.db")
		if err := os.WriteFile(file, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		tried++
		db, err := store.OpenReader(file)
		if err != nil {
			noticed++
			continue
		}
		problems, err := db.Verify(t.Context(), nil)
		if err != nil || len(problems) > 0 {
			noticed++
		}
		db.Close()
	}
	t.Logf("%d of %d flipped bits were noticed", noticed, tried)
	if noticed == 0 || tried < 50 {
		t.Errorf("%d of %d flipped bits were noticed", noticed, tried)
	}
}

func TestOpen_TruncatedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	record(t, db, newConversation(1, 2000), 1, 60, 4000)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()/2+100); err != nil {
		t.Fatal(err)
	}
	db, err = store.OpenReader(path)
	if err != nil {
		t.Logf("refused: %v", err)
		return
	}
	defer db.Close()
	problems, err := db.Verify(t.Context(), nil)
	if err == nil && len(problems) == 0 {
		t.Error("half a file is whole")
	}
}
