package redact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/redact"
)

const (
	b62   = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	url64 = b62 + "_-"
	hexes = "0123456789abcdef"
	lower = "0123456789abcdefghijklmnopqrstuvwxyz"
	upper = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// forms are how secrets are made up: what is between {} is a number of random
// characters of an alphabet. None of them is real.
var forms = []string{
	"sk-proj-{w48}", "sk-proj-{w120}", "sk-svcacct-{w60}", "sk-admin-{w60}", "sk-{a48}", "sk-{h32}", "sk-ant-api03-{w93}", "sk-ant-oat01-{w80}", "sk-or-v1-{h64}",
	"gsk_{a52}", "xai-{a80}", "csk-{l48}", "pplx-{a48}", "fw_{a24}", "tgp_v1_{w43}", "nvapi-{w64}", "r8_{a37}", "hf_{a34}", "lsv2_pt_{h32}_{h10}",
	"AIza{w35}", "ya29.{w60}", "GOCSPX-{w28}", "AKIA{u16}", "ASIA{u16}", "ghp_{a36}", "gho_{a36}", "ghs_{a36}", "github_pat_{a22}_{a59}", "glpat-{w20}", "ATBB{a32}",
	"xoxb-{d12}-{d12}-{a24}", "xoxp-{d12}-{d12}-{a32}", "xapp-1-A{u10}-{d13}-{h64}", "https://hooks.slack.com/services/T{u10}/B{u10}/{a24}",
	"sk_live_{a24}", "sk_test_{a24}", "rk_live_{a24}", "SG.{w22}.{w43}", "key-{h32}", "SK{h32}", "npm_{a36}", "pypi-AgEIcHlwaS5vcmc{w70}", "dckr_pat_{w27}",
	"dapi{h32}", "dop_v1_{h64}", "dp.pt.{a43}", "shpat_{h32}", "lin_api_{a40}", "ntn_{a46}", "figd_{w40}", "glsa_{a32}_{h8}", "NRAK-{u27}", "PMAK-{h24}-{h34}",
	"hvs.{w90}", "sbp_{h40}", "AGE-SECRET-KEY-1{u58}", "eyJ{w30}.eyJ{w60}.{w43}",
	"-----BEGIN PRIVATE KEY-----\n{a64}\n{a64}\n-----END PRIVATE KEY-----", "-----BEGIN OPENSSH PRIVATE KEY-----\n{a64}\n{a40}\n-----END OPENSSH PRIVATE KEY-----",
	"-----BEGIN RSA PRIVATE KEY-----\n{a64}\n-----END RSA PRIVATE KEY-----", "{l6}.{l7}@{l8}.org", "{l9}@mail.{l6}.co.uk",
}

// places are where the first of them stand, %s the secret.
var places = []string{"%s", "the key is %s, keep it", "KEY_IN_FILE=%s\nNEXT=1\n", "curl -H 'x-api-key: %s' https://api.example.com", `{"found": "%s"}`}

// named are secrets that only their surroundings give away, between « and ».
var named = []string{
	"Authorization: Bearer «{w32}»", "authorization: bearer-less\nBearer «{a40}»", `"Authorization": "Basic «{a28}==»"`, "DB_PASSWORD=«{a16}»", "password: «hunter{d2}!»",
	`"client_secret": "«{a40}»"`, "aws_secret_access_key = «{a40}»", "postgres://app:«{a12}»@db.internal:5432/x", "https://user:«{a20}»@git.example.com/x.git",
	"SECRET_KEY='«{w50}»'", `apiKey: "«{h32}»",`, `"accessToken":"«{a32}»"`, "export AUTH_TOKEN=«{a24}»", "refresh_token=«{w40}»&grant_type=x", "AccountKey=«{b86}==»;EndpointSuffix=core",
	"DJANGO_SECRET: «{w24}»", "redis://:«{a16}»@cache:6379/0",
}

func made(r *rand.Rand, form string) string {
	alphabets := map[byte]string{'a': b62, 'w': url64, 'h': hexes, 'l': lower, 'u': upper, 'd': "0123456789", 'b': b62 + "+/"}
	var out strings.Builder
	for form != "" {
		before, rest, ok := strings.Cut(form, "{")
		out.WriteString(before)
		if !ok {
			break
		}
		spec, after, _ := strings.Cut(rest, "}")
		n := 0
		fmt.Sscan(spec[1:], &n)
		text := make([]byte, n)
		for i := range text {
			text[i] = alphabets[spec[0]][r.IntN(len(alphabets[spec[0]]))]
		}
		if n > 2 { // neither a number nor a word by chance
			text[0], text[n-1] = alphabets[spec[0]][1], alphabets[spec[0]][len(alphabets[spec[0]])-3]
		}
		out.Write(text)
		form = after
	}
	return out.String()
}

// secrets gives texts with what must go from each.
func secrets() (texts, gone []string) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 0; len(texts) < 160; n++ {
		secret := made(r, forms[n%len(forms)])
		texts = append(texts, fmt.Sprintf(places[(n+n/len(forms))%len(places)], secret))
		gone = append(gone, secret)
	}
	for n := 0; len(texts) < 200; n++ {
		text := made(r, named[n%len(named)])
		_, secret, _ := strings.Cut(text, "«")
		secret, _, _ = strings.Cut(secret, "»")
		texts = append(texts, strings.NewReplacer("«", "", "»", "").Replace(text))
		gone = append(gone, secret)
	}
	return texts, gone
}

// TestScrubber_RecallAndLookAlikes prints how good it is on the project's own set.
func TestScrubber_RecallAndLookAlikes(t *testing.T) {
	texts, gone := secrets()
	missed := 0
	for i, text := range texts {
		s := redact.NewScrubber(nil)
		got := s.Text(text)
		if strings.Contains(got, gone[i]) || !strings.Contains(got, "[redacted:") {
			missed++
			t.Logf("missed in %.80q", text)
		}
		if again := s.Text(got); again != got {
			t.Errorf("a placeholder is redacted: %q became %q", got, again)
		}
	}
	list := lookAlikes()
	changed := 0
	for _, text := range list {
		if got := redact.NewScrubber(nil).Text(text); got != text {
			changed++
			t.Errorf("look-alike %q became %q", text, got)
		}
	}
	recall := float64(len(texts)-missed) / float64(len(texts))
	t.Logf("recall %.1f %% of %d secrets; %d of %d look-alikes changed", 100*recall, len(texts), changed, len(list))
	if len(texts) != 200 || len(list) != 200 || recall < 0.98 {
		t.Errorf("recall %.3f of %d secrets, %d look-alikes", recall, len(texts), len(list))
	}
}

func lookAlikes() []string {
	b, err := os.ReadFile("testdata/lookalikes.txt")
	if err != nil {
		panic(err)
	}
	list := strings.Split(strings.TrimSpace(string(b)), "\n")
	r := rand.New(rand.NewPCG(3, 4))
	for _, form := range []string{"{h40}", "{h64}", "sha256:{h64}", "call_{a24}", "toolu_01{a22}", "chatcmpl-{a29}", "resp_{h48}", "msg_{a24}", "fc_{h48}", "rs_{h48}", "req_{a24}",
		"{h8}-{h4}-4{h3}-a{h3}-{h12}", "commit {h40}\nAuthor: A", "index {h7}..{h7} 100644", "sha512-{b86}==", "data:image/png;base64,{b120}", "etag: \"{h32}\"", "run-{d6}", "0x{h40}", "v1.2.{d3}-{d14}-{h12}"} {
		for range 3 {
			list = append(list, made(r, form))
		}
	}
	return list
}

func TestScrubber_SameSecretSamePlaceholder(t *testing.T) {
	s := redact.NewScrubber(nil)
	a, b := "ghp_"+strings.Repeat("a1", 18), "ghp_"+strings.Repeat("b2", 18)
	if got := s.Text(a + " " + b + " " + a); got != "[redacted:github:1] [redacted:github:2] [redacted:github:1]" {
		t.Error(got)
	}
	if r := s.Report(); len(r) != 2 || r[0].Count != 2 || r[0].Kind != "github" {
		t.Errorf("%+v", r)
	}
}

func TestScrubber_KeyedNamesAreThoseOfTheSaltAndAreNotRemembered(t *testing.T) {
	a, b := "ghp_"+strings.Repeat("a1", 18), "ghp_"+strings.Repeat("b2", 18)
	keyed := func(salt, text string) string {
		s := redact.NewScrubber(nil)
		s.Keyed([]byte(salt))
		out := s.Text(text)
		if len(s.Report()) != 0 || len(s.Vault()) != 0 {
			t.Errorf("secrets are remembered: %v", s.Report())
		}
		return out
	}
	both := strings.Fields(keyed("salt", a+" "+b))
	if !regexp.MustCompile(`^\[redacted:github:[0-9a-f]{10}\]$`).MatchString(both[0]) || both[0] == both[1] {
		t.Error(both)
	}
	if again := keyed("salt", b+" "+a); again != both[1]+" "+both[0] {
		t.Errorf("another process gives %s, not %s", again, both)
	}
	if other := keyed("other", a); other == both[0] {
		t.Error("another salt gives the same placeholder")
	}
}

func TestScrubber_VaultRestores(t *testing.T) {
	texts, _ := secrets()
	s := redact.NewScrubber(nil)
	body, _ := json.Marshal(map[string]any{"content": strings.Join(texts, "\n"), "more": texts})
	out, splices := s.Body(body)
	if bytes.Equal(out, body) || len(splices) == 0 {
		t.Fatal("nothing was redacted")
	}
	again := redact.NewScrubber(nil)
	again.Reuse(s.Vault())
	if other, _ := again.Body(body); !bytes.Equal(other, out) {
		t.Error("placeholders of a vault are not used again")
	}
	back, err := s.Vault().Restore(string(out))
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if json.Unmarshal(body, &want) != nil || json.Unmarshal([]byte(back), &got) != nil || fmt.Sprint(want) != fmt.Sprint(got) {
		t.Errorf("restored otherwise:\n%.500s", back)
	}
}

func TestBody_KeepsWhatPairs(t *testing.T) {
	key := "sk-proj-" + strings.Repeat("aB3", 16)
	body := `{"id":"` + key + `","signature":"` + key + `","messages":[{"tool_call_id":"` + key + `","content":"say \"` + key + `\" \u00e9"}],"n":1.50,"password":"abc","api_key":"Zx81Zx81Zx81Zx81"}`
	want := `{"id":"` + key + `","signature":"` + key + `","messages":[{"tool_call_id":"` + key + `","content":"say \"[redacted:openai:1]\" é"}],"n":1.50,"password":"abc","api_key":"[redacted:secret:1]"}`
	if got, _ := redact.NewScrubber(nil).Body([]byte(body)); string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestBody_FindsWhatEventsSplit(t *testing.T) {
	key := "sk-ant-api03-" + strings.Repeat("aB3", 20)
	quote := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	events := map[string]func(text string) string{
		"chat": func(s string) string {
			return `{"choices":[{"index":0,"delta":{"content":` + quote(s) + `}}]}`
		},
		"arguments": func(s string) string {
			return `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":` + quote(s) + `}}]}}]}`
		},
		"messages": func(s string) string {
			return `{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":` + quote(s) + `}}`
		},
		"responses": func(s string) string {
			return `{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"delta":` + quote(s) + `}`
		},
	}
	for name, event := range events {
		for size := 1; size < len(key)+4; size += 7 {
			text := "the key: " + key + " ends"
			var stream, other strings.Builder
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				stream.WriteString("data: " + event(rest[:n]) + "\n\n")
				rest = rest[n:]
			}
			stream.WriteString("data: [DONE]\n\n" + other.String())
			s := redact.NewScrubber(nil)
			got, splices := s.Body([]byte(stream.String()))
			joined := joinEvents(t, got)
			if joined != "the key: [redacted:anthropic:1] ends" {
				t.Fatalf("%s in pieces of %d: %q", name, size, joined)
			}
			if moved := redact.Moved(splices, int64(stream.Len())); moved != int64(len(got)) {
				t.Errorf("%s: the end moved to %d of %d", name, moved, len(got))
			}
		}
	}
}

// joinEvents joins what events bring.
func joinEvents(t *testing.T, stream []byte) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(string(stream)) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		collect(v, &out)
	}
	return out.String()
}

func collect(v any, out *strings.Builder) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			collect(e, out)
		}
	case map[string]any:
		for name, e := range v {
			if s, ok := e.(string); ok {
				if name == "content" || name == "arguments" || name == "text" || name == "delta" {
					out.WriteString(s)
				}
				continue
			}
			collect(e, out)
		}
	}
}

func TestRules(t *testing.T) {
	rules, err := redact.ReadRules(strings.NewReader("# ours\ncustomer CUST-[0-9]{4}\nhost  host=(\\w+)\nkeep ^sk-proj-test\nkeep-emails\n"))
	if err != nil {
		t.Fatal(err)
	}
	in := "CUST-1234 host=alpha a@b.org sk-proj-test" + strings.Repeat("x1", 20)
	want := "[redacted:customer:1] host=[redacted:host:1] a@b.org sk-proj-test" + strings.Repeat("x1", 20)
	if got := redact.NewScrubber(rules).Text(in); got != want {
		t.Errorf("got %q", got)
	}
	for _, bad := range []string{"alone", "two ([", "b@d x"} {
		if _, err := redact.ReadRules(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A published case.
func TestScrubber_Case(t *testing.T) {
	const dir = "../../shared/cases/inputs/D-EXP-02/"
	text, err := os.ReadFile(dir + "tool_output.txt")
	if err != nil {
		t.Skip("the published cases are not here:", err)
	}
	raw, err := os.ReadFile(dir + "expect.json")
	if err != nil {
		t.Fatal(err)
	}
	var expect struct {
		Export struct {
			Matches int      `json:"secret_matches"`
			Not     []string `json:"must_not_contain"`
			Must    []string `json:"must_contain"`
		} `json:"redacted_export"`
	}
	if err := json.Unmarshal(raw, &expect); err != nil || expect.Export.Matches == 0 {
		t.Fatal(err, expect)
	}
	s := redact.NewScrubber(nil)
	got := s.Text(string(text))
	for _, not := range expect.Export.Not {
		if strings.Contains(got, not) {
			t.Errorf("still holds %q", not)
		}
	}
	for _, must := range expect.Export.Must {
		if !strings.Contains(got, must) {
			t.Errorf("lost %q", must)
		}
	}
	if r := s.Report(); len(r) != expect.Export.Matches {
		t.Errorf("%d findings, want %d: %+v", len(r), expect.Export.Matches, r)
	}
}

func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"a":"sk-proj-aaaaaaaaaaaaaaaaaaaaaaaaaaaa1","b":[1,{"password":"p4ssw0rd!x"}]}`))
	f.Add([]byte("data: {\"delta\":\"ghp_aaaaaaaaaaaaaaaaaa\"}\n\ndata: {\"delta\":\"aaaaaaaaaaaaaaaaaaaa\"}\n\n"))
	f.Add([]byte(`{"a":"`))
	f.Add([]byte("x@y.zz \xff"))
	f.Fuzz(func(t *testing.T, body []byte) {
		out, splices := redact.NewScrubber(nil).Body(body)
		if json.Valid(body) && !json.Valid(out) {
			t.Errorf("%q became %q", body, out)
		}
		if len(splices) == 0 && !bytes.Equal(out, body) {
			t.Errorf("%q changed without a splice", body)
		}
		if m := redact.Moved(splices, int64(len(body))); m != int64(len(out)) {
			t.Errorf("the end of %q moved to %d of %d", body, m, len(out))
		}
	})
}
