package lint_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// mismatches gives what is said of arguments under a schema.
func mismatches(schema, arguments string) []lint.Finding {
	tools := fmt.Sprintf(`"tools":[{"type":"function","function":{"name":"ls","parameters":%s}}]`, schema)
	x := chat(hi, tools).answers(completion(calling(toolCall("a", "ls", arguments)), "tool_calls"))
	return only("arguments_schema_mismatch", judge(transcript.Chat, one(x)))
}

func TestSchema_SaysWhereArgumentsDoNotFit(t *testing.T) {
	found := mismatches(`{"type":"object","$defs":{"city":{"type":"string"}},"properties":{"to":{"type":"array","items":{"$ref":"#/$defs/city"}}}}`, `{"to":["Oslo",3]}`)
	if len(found) != 1 || !strings.Contains(found[0].Message, `"/to/1"`) {
		t.Fatalf("got %s", list(found))
	}
}

// Schemas and arguments that would work us to death, or make us call somebody,
// are not checked. (That this test ends is the point.)
func TestSchema_IsBounded(t *testing.T) {
	called := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer server.Close()
	doubling := []string{`"d0":{"type":"object"}`}
	for i := 1; i < 40; i++ {
		doubling = append(doubling, fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i-1, i-1))
	}
	deep := strings.Repeat(`{"p":`, 60) + "1" + strings.Repeat("}", 60)
	cases := map[string][2]string{
		"loop":           {`{"$ref":"#"}`, `{}`},
		"loop of two":    {`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"$ref":"#/$defs/a"}}}`, `{}`},
		"remote":         {`{"$ref":"` + server.URL + `/schema.json"}`, `{"p":1}`},
		"remote by id":   {`{"$id":"` + server.URL + `/x","properties":{"p":{"$ref":"y.json"}}}`, `{"p":1}`},
		"remote dialect": {`{"$schema":"` + server.URL + `/meta","type":"string"}`, `{"p":1}`},
		"file":           {`{"$ref":"file:///etc/passwd"}`, `{"p":1}`},
		"doubling":       {`{"$ref":"#/$defs/d39","$defs":{` + strings.Join(doubling, ",") + `}}`, `{}`},
		"doubling depth": {`{"$defs":{"n":{"allOf":[{"properties":{"p":{"$ref":"#/$defs/n"}}},{"properties":{"p":{"$ref":"#/$defs/n"}}}]}},"$ref":"#/$defs/n"}`, deep},
		"nesting":        {strings.Repeat(`{"not":`, 5000) + "{}" + strings.Repeat("}", 5000), `{}`},
		"deep arguments": {`{"type":"string"}`, strings.Repeat(`{"p":`, 5000) + "1" + strings.Repeat("}", 5000)},
		"large number":   {`{"properties":{"p":{"multipleOf":7}}}`, `{"p":1e999999}`},
		"small number":   {`{"properties":{"p":{"multipleOf":1e-999999}}}`, `{"p":3}`},
		"bad pattern":    {`{"properties":{"p":{"pattern":"(?<=a)b"}}}`, `{"p":"x"}`},
	}
	for name, c := range cases {
		if found := mismatches(c[0], c[1]); len(found) > 0 {
			t.Errorf("%s: %s", name, list(found))
		}
	}
	if called {
		t.Error("a schema made us call a server")
	}
}

func FuzzJudge(f *testing.F) {
	for _, c := range codeCases() {
		for _, x := range c.run {
			f.Add(byte(strings.Index("crm", string(c.dialect[:1]))), x.request, x.response)
		}
	}
	f.Add(byte(0), `{"messages":[[],{},3,"x",{"role":"tool"}],"tools":[1,{}],"tool_choice":[]}`, `{"choices":[{"message":{"tool_calls":[1,{}]}}]}`)
	dialects := []transcript.Dialect{transcript.Chat, transcript.Responses, transcript.Messages}
	f.Fuzz(func(t *testing.T, d byte, request, response string) {
		name := dialects[int(d)%len(dialects)]
		turn := dialect.Decode(name, &dialect.Wire{Method: "POST", URL: paths[name], Request: []byte(request), Response: []byte(response)})
		step := lint.Step{Exchange: &transcript.Exchange{ID: "x"}, Turn: turn}
		for _, finding := range lint.Exchange(step, &step) {
			if finding.Code == "" || finding.Message == "" || finding.Severity == "" {
				t.Fatalf("an empty finding: %+v", finding)
			}
		}
	})
}
