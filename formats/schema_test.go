package formats_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/retake-debugger/retake/formats"
)

// A schema library of our own is no judge of ours: the formats of others are
// held against theirs.
func TestSchemas(t *testing.T) {
	for _, dir := range exportCases(t) {
		c := readCase(t, dir)
		for name, write := range map[string]writer{"har": har, "otlp": otlp} {
			var out bytes.Buffer
			if err := write(&out, c, &formats.Losses{}); err != nil {
				t.Fatal(err)
			}
			validate(t, name, out.Bytes())
		}
		checkMessages(t, c)
	}
	var empty bytes.Buffer
	if err := formats.NewHAR(&empty, "test", &formats.Losses{}).Close(); err != nil {
		t.Fatal(err)
	}
	validate(t, "har", empty.Bytes())
	empty.Reset()
	if err := formats.NewOTLP(&empty, &formats.Losses{}).Close(); err != nil {
		t.Fatal(err)
	}
	validate(t, "otlp", empty.Bytes())
}

func validate(t *testing.T, schema string, document []byte) {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("testdata/schema/" + schema + ".json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatalf("%s: %v in %s", schema, err, document)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%s: %v", schema, err)
	}
}

// checkMessages validates the messages within the span of a model call.
func checkMessages(t *testing.T, c *formats.Conversation) {
	t.Helper()
	var out bytes.Buffer
	if err := otlp(&out, c, &formats.Losses{}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					Attributes []struct {
						Key   string
						Value struct{ StringValue string }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, s := range doc.ResourceSpans[0].ScopeSpans[0].Spans {
		for _, a := range s.Attributes {
			if a.Key == "gen_ai.input.messages" || a.Key == "gen_ai.output.messages" {
				found++
				validate(t, "genai", []byte(a.Value.StringValue))
			}
		}
	}
	if found != 2 {
		t.Errorf("%d attributes with messages, want those of input and output", found)
	}
}
