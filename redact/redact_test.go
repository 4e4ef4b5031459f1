package redact_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/redact"
)

var r = redact.New([]byte("salt"))

func TestHeader_HidesCredentials(t *testing.T) {
	for name, value := range map[string]string{
		"Authorization": "s3cr3t", "Proxy-Authorization": "Basic s3cr3t", "X-Api-Key": "s3cr3t", "api-key": "s3cr3t",
		"X-Goog-Api-Key": "s3cr3t", "Cookie": "a=s3cr3t", "Set-Cookie": "a=s3cr3t; Path=/", "X-Amz-Security-Token": "s3cr3t",
		"X-Retake-Token": "s3cr3t", "Cf-Access-Client-Id": "s3cr3t", "CF-Access-Client-Secret": "s3cr3t",
		"Cf-Access-Jwt-Assertion": "s3cr3t", "Ocp-Apim-Subscription-Key": "s3cr3t", "Helicone-Auth": "Bearer s3cr3t",
		"X-Portkey-Api-Key": "s3cr3t", "X-Portkey-Virtual-Key": "s3cr3t", "X-Functions-Key": "s3cr3t", "X-Auth-Token": "s3cr3t",
		"X-Serverless-Authorization": "Bearer s3cr3t", "X-Goog-Iap-Jwt-Assertion": "s3cr3t", "X-Amzn-Oidc-Data": "s3cr3t",
		"X-Amzn-Oidc-Accesstoken": "s3cr3t", "X-Csrf-Token": "s3cr3t", "Litellm_password": "s3cr3t", "X-Client-Secret": "s3cr3t",
		"Openai-Api-Key": "s3cr3t", "X-Hub-Signature": "s3cr3t", "Authtoken": "s3cr3t", "X-Rapidapi-Key": "s3cr3t",
		"Location": "https://h/p?token=s3cr3t", "Referer": "https://u:s3cr3t@h/p",
	} {
		got := r.Header(map[string][]string{name: {value, value}})[name]
		if len(got) != 2 || strings.Contains(got[0], "s3cr3t") || got[0] != got[1] || !strings.Contains(got[0], "redacted") {
			t.Errorf("%s: %s became %q", name, value, got)
		}
	}
}

func TestHeader_KeepsTheRest(t *testing.T) {
	for name, value := range map[string]string{
		"Openai-Organization": "org-keepme", "Openai-Project": "p", "Content-Type": "application/json; charset=utf-8",
		"X-Ratelimit-Remaining-Tokens": "100", "Anthropic-Ratelimit-Input-Tokens-Limit": "9", "Idempotency-Key": "k",
		"Sec-Websocket-Key": "k", "Anthropic-Beta": "token-counting-2024-11-01", "Session_id": "s", "X-Request-Id": "q",
		"Thread-Id": "t", "X-Token-Count": "7", "Max-Tokens": "8", "Www-Authenticate": "Bearer realm=x", "Accept": "*/*",
		"Authorization": "", "X-Goog-Api-Client": "genai/1", "Location": "/next?page=2&pageToken=x", "User-Agent": "what? (a=b)",
	} {
		h := map[string][]string{name: {value}}
		if got := r.Header(h)[name]; len(got) != 1 || got[0] != value {
			t.Errorf("%s: %q became %q", name, value, got)
		}
	}
}

func TestValue_KeepsTheScheme(t *testing.T) {
	for value, prefix := range map[string]string{
		"Bearer abc": "Bearer [redacted] fp:", "Basic abc": "Basic [redacted] fp:",
		"AWS4-HMAC-SHA256 Credential=A/b, Signature=c": "AWS4-HMAC-SHA256 [redacted] fp:",
		"hunter2 and more": "[redacted] fp:", "Bearer ": "[redacted] fp:", "sk-abc": "[redacted] fp:",
	} {
		if got := r.Value("Authorization", value); !strings.HasPrefix(got, prefix) || len(got) != len(prefix)+8 {
			t.Errorf("%q became %q", value, got)
		}
	}
	if r.Value("Authorization", "Bearer k") != "Bearer "+r.Value("X-Api-Key", "k") {
		t.Error("one key has two fingerprints")
	}
	if r.Fingerprint("k") == redact.New([]byte("other")).Fingerprint("k") {
		t.Error("fingerprints of two stores are equal")
	}
}

func TestURL(t *testing.T) {
	m := "[redacted]+" + strings.TrimPrefix(r.Fingerprint("s3"), redact.Mark+" ")
	for in, want := range map[string]string{
		"https://h/v1beta/m:g?alt=sse&key=s3":       "https://h/v1beta/m:g?alt=sse&key=" + m,
		"/p?%6Bey=s3&x=%20y":                        "/p?%6Bey=" + m + "&x=%20y",
		"/p?api_key=s3;api-key=s3&apiKey=s3":        "/p?api_key=" + m + ";api-key=" + m + "&apiKey=" + m,
		"/p?access_token=s3&sig=s3&signature=s3":    "/p?access_token=" + m + "&sig=" + m + "&signature=" + m,
		"/p?X-Amz-Signature=s3&X-Amz-Credential=s3": "/p?X-Amz-Signature=" + m + "&X-Amz-Credential=" + m,
		"/p?X-Amz-Security-Token=s3&X-Amz-Date=d":   "/p?X-Amz-Security-Token=" + m + "&X-Amz-Date=d",
		"/p?token=s3#access_token=s3":               "/p?token=" + m + "#access_token=" + m,
		"/p?subscription-key=s3&code=s3":            "/p?subscription-key=" + m + "&code=" + m,
		"https://user:pw@h:1/p@q":                   "https://redacted@h:1/p@q",
		"/a%2Fb//c?x=%20y&&=&key&key=":              "/a%2Fb//c?x=%20y&&=&key&key=",
		"/p?":                                       "/p?",
		"/p?pageToken=a&max_tokens=5&keys=b":        "/p?pageToken=a&max_tokens=5&keys=b",
		"":                                          "",
	} {
		if got := r.URL(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// The headers of a published case: every value but one is a credential.
func TestHeader_CredentialCase(t *testing.T) {
	b, err := os.ReadFile("testdata/secrets.json")
	if err != nil {
		t.Fatal(err)
	}
	var secrets map[string]string
	if err := json.Unmarshal(b, &secrets); err != nil || len(secrets) < 7 {
		t.Fatal(len(secrets), err)
	}
	h := map[string][]string{"set-cookie": {"sid=HDRTEST-0007"}}
	for name, value := range secrets {
		h[name] = []string{value}
	}
	out := fmt.Sprint(r.Header(h))
	if strings.Contains(out, "HDRTEST") || strings.Contains(out, "SERSVEVTVC0wMDA2") || !strings.Contains(out, "org-keepme") {
		t.Error(out)
	}
}

func FuzzURL(f *testing.F) {
	f.Add("https://u:p@h/p?key=a&b=c#d")
	f.Add("?sig=%zz;;&=")
	f.Fuzz(func(t *testing.T, u string) {
		once := r.URL(u)
		if q, err := url.ParseQuery(u); err == nil && !strings.ContainsAny(u, "?#") && !strings.Contains(u, "://") && once != u {
			t.Errorf("%q (%v) became %q", u, q, once)
		}
		if strings.Count(once, "&") != strings.Count(u, "&") && !strings.Contains(u, "://") {
			t.Errorf("%q lost a parameter: %q", u, once)
		}
	})
}

func ExampleRedactor_Header() {
	r := redact.New([]byte("salt of this store"))
	h := r.Header(map[string][]string{"Authorization": {"Bearer sk-1234"}})
	fmt.Println(h["Authorization"][0])
	// Output: Bearer [redacted] fp:c07d1799
}
