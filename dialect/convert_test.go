package dialect

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// What each golden request becomes in the other two dialects, with its losses.
func TestConvert_Golden(t *testing.T) {
	files, err := filepath.Glob("testdata/convert/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no case found (%v)", err)
	}
	for _, file := range files {
		if strings.Count(filepath.Base(file), ".") > 1 {
			continue
		}
		name, _, _ := strings.Cut(filepath.Base(file), "-")
		for _, to := range []transcript.Dialect{transcript.Chat, transcript.Responses, transcript.Messages} {
			from := transcript.Dialect(name)
			if to == from {
				continue
			}
			t.Run(filepath.Base(file)+" to "+string(to), func(t *testing.T) {
				body := read(t, file)
				before := bytes.Clone(body)
				got, losses, err := Convert(from, to, body)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(body, before) {
					t.Error("the request was changed")
				}
				var out bytes.Buffer
				if err := json.Indent(&out, got, "", " "); err != nil {
					t.Fatal(err)
				}
				out.WriteByte('\n')
				for _, l := range losses {
					line, _ := json.Marshal(l)
					out.Write(append(line, '\n'))
				}
				compareGolden(t, strings.TrimSuffix(file, ".json")+"."+string(to)+".golden", out.Bytes())
			})
		}
	}
}

func compareGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, file)), string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestConvert_WithinOneDialectNothingChanges(t *testing.T) {
	body := []byte(`{ "model":"m", "input":[{"type":"reasoning","id":"rs_1","encrypted_content":"x"}]}`)
	got, losses, err := Convert(transcript.Responses, transcript.Responses, body)
	if err != nil || !bytes.Equal(got, body) || losses != nil {
		t.Errorf("got %s, %v, %v", got, losses, err)
	}
}

func TestConvert_RefusesWhatItDoesNotKnow(t *testing.T) {
	for _, c := range []struct {
		from, to transcript.Dialect
		body     string
	}{
		{transcript.Chat, transcript.Messages, `[1]`},
		{transcript.Chat, transcript.Messages, `{"messages":`},
		{transcript.Unknown, transcript.Messages, `{}`},
		{transcript.Chat, transcript.Unknown, `{}`},
	} {
		if got, _, err := Convert(c.from, c.to, []byte(c.body)); err == nil {
			t.Errorf("%s to %s: %s gives %s", c.from, c.to, c.body, got)
		}
	}
}

// D-REP-03: reasoning of another provider is dropped, pairs stay, and every
// change is listed.
func TestCases_ConvertForAnotherProvider(t *testing.T) {
	dir := filepath.Join("testdata", "cases", "D-REP-03")
	var want struct {
		Converted struct {
			Roles     []string        `json:"message_roles"`
			IDPattern string          `json:"id_pattern"`
			Input     json.RawMessage `json:"tool_input"`
			Result    string          `json:"tool_result_text"`
		}
		Forbidden []string `json:"forbidden_substrings"`
		Notices   []struct {
			Code   draft.LossCode
			ItemID string `json:"item_id"`
			From   string
		}
	}
	if err := json.Unmarshal(read(t, dir, "expect.json"), &want); err != nil {
		t.Fatal(err)
	}
	got, losses, err := Convert(transcript.Responses, transcript.Messages, read(t, dir, "request.json"))
	if err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, m := range rawjson.Elements(rawjson.Get(got, "messages")) {
		roles = append(roles, rawjson.String(rawjson.Get(m, "role")))
	}
	if diff := cmp.Diff(want.Converted.Roles, roles); diff != "" {
		t.Error(diff)
	}
	for _, s := range want.Forbidden {
		if bytes.Contains(got, []byte(s)) {
			t.Errorf("%s is in %s", s, got)
		}
	}
	items := Decode(transcript.Messages, &api.Wire{Request: got}).Input
	pairs := transcript.PairItems(items)
	if len(pairs) != 1 || pairs[0].State != transcript.Paired {
		t.Fatalf("pairs %+v in %s", pairs, got)
	}
	call, result := items[pairs[0].Call], items[pairs[0].Result]
	if call.CallID != result.CallID || !regexp.MustCompile(want.Converted.IDPattern).MatchString(call.CallID) ||
		result.Text != want.Converted.Result || transcript.HashJSON(call.Arguments) != transcript.HashJSON(want.Converted.Input) {
		t.Errorf("call %+v\nresult %+v", call, result)
	}
	for _, l := range losses {
		if l.Code == draft.ParameterAdded { // max_tokens: nothing of the request is lost by it
			continue
		}
		if len(want.Notices) == 0 {
			t.Fatalf("one notice too many: %+v", l)
		}
		n := want.Notices[0]
		if want.Notices = want.Notices[1:]; l.Code != n.Code || n.ItemID != "" && l.ItemID != n.ItemID || n.From != "" && l.From != n.From {
			t.Errorf("notice %+v, want %+v", l, n)
		}
	}
	if len(want.Notices) > 0 {
		t.Errorf("not listed: %+v", want.Notices)
	}
}
