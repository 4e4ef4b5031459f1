package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// caseFinding is a finding as a case expects it: what it leaves out may be
// anything.
type caseFinding struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	At       string `json:"at"`
	CallID   string `json:"call_id"`
	Offset   *int   `json:"offset"`
}

func (want *caseFinding) is(got *caseFinding) bool {
	return want.Code == got.Code && want.Severity == got.Severity && (want.At == "" || want.At == got.At) && (want.CallID == "" || want.CallID == got.CallID) &&
		(want.Offset == nil || got.Offset != nil && *want.Offset == *got.Offset)
}

type caseLint struct {
	Lint      []caseFinding `json:"lint"`
	Forbidden []string      `json:"lint_forbidden"`
}

// What is wrong with the exchanges of a case is found, and what is not is not.
func TestCases_AreJudgedAsExpected(t *testing.T) {
	const decoded, linked = "../../dialect/testdata/cases", "../../ingest/testdata"
	for _, c := range []struct{ root, id, parts string }{
		{decoded, "D-STR-01", "01 02"}, {decoded, "D-STR-04", ""}, {decoded, "D-STR-05", "01 02 03"},
		{decoded, "D-PAIR-01", ""}, {decoded, "D-PAIR-02", ""}, {linked, "D-PAIR-03", ""}, {linked, "D-PAIR-04", "01 02 03"}, {decoded, "D-PAIR-05", "01 02 03"},
		{linked, "D-RUN-01", "01 02"},
	} {
		t.Run(c.id, func(t *testing.T) {
			dir := filepath.Join(c.root, c.id)
			parts := strings.Fields(c.parts)
			var whole caseLint
			byPart := map[string]json.RawMessage{}
			readCase(t, filepath.Join(dir, "expect.json"), &whole)
			readCase(t, filepath.Join(dir, "expect.json"), &byPart)
			db, expected := seedCase(t, dir, parts), 0
			for n := range max(1, len(parts)) {
				want := whole
				if len(parts) > 0 && byPart[parts[n]] != nil {
					if err := json.Unmarshal(byPart[parts[n]], &want); err != nil {
						t.Fatal(err)
					}
				}
				var got []caseFinding
				ref := "x" + strconv.Itoa(n+1)
				_, out, errs := invoke(t, map[string]string{"RETAKE_DB": db}, "lint", ref, "--json")
				if err := json.Unmarshal([]byte(out), &got); err != nil {
					t.Fatalf("lint %s: %v: %s%s", ref, err, out, errs)
				}
				expected += len(want.Lint) + len(want.Forbidden)
				checkLint(t, ref, &want, got)
			}
			if expected == 0 {
				t.Fatal("the case expects nothing")
			}
		})
	}
}

func checkLint(t *testing.T, ref string, want *caseLint, got []caseFinding) {
	t.Helper()
	for i := range want.Lint {
		found := false
		for k := range got {
			found = found || want.Lint[i].is(&got[k])
		}
		if !found {
			t.Errorf("%s: no %+v among %+v", ref, want.Lint[i], got)
		}
	}
	for _, code := range want.Forbidden {
		for k := range got {
			if got[k].Code == code {
				t.Errorf("%s: %+v is wrong", ref, got[k])
			}
		}
	}
}

// A stream that an error ends is a failed exchange, whatever its status: the
// filter for errors finds it.
func TestCases_StreamsThatEndInAnErrorAreFailures(t *testing.T) { // D-STR-06
	db := seedCase(t, "../../dialect/testdata/cases/D-STR-06", []string{"01", "02", "03"})
	for args, want := range map[string]int{"ls -x --outcome stream_error": 3, "ls -x --outcome ok": 0} {
		var rows []struct {
			Status  int
			Outcome string
		}
		_, out, errs := invoke(t, map[string]string{"RETAKE_DB": db}, append(strings.Fields(args), "--json")...)
		if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != want {
			t.Fatalf("inspect %s: %d rows, want %d (%v): %s%s", args, len(rows), want, err, out, errs)
		}
		for _, r := range rows {
			if r.Status != 200 {
				t.Errorf("inspect %s: status %d", args, r.Status)
			}
		}
	}
}

// seedCase stores the exchanges of a case.
func seedCase(t *testing.T, dir string, parts []string) (db string) {
	t.Helper()
	type headers struct {
		Request  struct{ Path string }
		Response struct{ Status int }
	}
	var common headers
	readCase(t, filepath.Join(dir, "headers.json"), &common)
	to := t.TempDir()
	if len(parts) == 0 {
		parts = []string{""}
	}
	for i, part := range parts {
		prefix := ""
		if part != "" {
			prefix = part + "."
		}
		of := common
		if _, err := os.Stat(filepath.Join(dir, prefix+"headers.json")); err == nil {
			readCase(t, filepath.Join(dir, prefix+"headers.json"), &of)
		}
		files := map[string][]byte{"path": []byte(of.Request.Path), "status": []byte(strconv.Itoa(cmp.Or(of.Response.Status, 200)))}
		for _, name := range []string{"request.json", "response.json", "response.sse"} {
			if b, err := os.ReadFile(filepath.Join(dir, prefix+name)); err == nil {
				files[name] = b
			}
		}
		for name, b := range files {
			if err := os.WriteFile(filepath.Join(to, strconv.Itoa(i+1)+"."+name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	db = filepath.Join(to, "t.db")
	if err := seed(db, to); err != nil {
		t.Fatal(err)
	}
	return db
}

func readCase(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}
