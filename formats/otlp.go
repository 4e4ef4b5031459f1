package formats

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// OTLP writes runs as spans in OTLP's JSON encoding, by the GenAI semantic
// conventions of OpenTelemetry: one trace for a run, in it a span for each model call
// (chat) and each tool call (execute_tool). It is one document on one line, as the
// file exporter of collectors writes it.
type OTLP struct {
	w     io.Writer
	Lost  *Losses
	spans int
}

// NewOTLP begins a document. Close ends it.
func NewOTLP(w io.Writer, lost *Losses) *OTLP { return &OTLP{w: w, Lost: lost} }

type otlpSpan struct {
	TraceID      string          `json:"traceId"`
	SpanID       string          `json:"spanId"`
	ParentSpanID string          `json:"parentSpanId,omitempty"`
	Name         string          `json:"name"`
	Kind         int             `json:"kind"`
	Start        string          `json:"startTimeUnixNano"`
	End          string          `json:"endTimeUnixNano"`
	Attributes   []otlpAttribute `json:"attributes,omitempty"`
	Status       otlpStatus      `json:"status"`
}

type otlpStatus struct {
	Code    int    `json:"code,omitempty"` // 2: error
	Message string `json:"message,omitempty"`
}

type otlpAttribute struct {
	Key   string    `json:"key"`
	Value otlpValue `json:"value"`
}

type otlpValue struct {
	String *string    `json:"stringValue,omitempty"`
	Int    string     `json:"intValue,omitempty"`
	Double *float64   `json:"doubleValue,omitempty"`
	Bool   *bool      `json:"boolValue,omitempty"`
	Array  *otlpArray `json:"arrayValue,omitempty"`
}

type otlpArray struct {
	Values []otlpValue `json:"values"`
}

// The kinds of spans that are used.
const (
	spanInternal = 1
	spanClient   = 3
)

// otlpHead is the text before the spans.
const otlpHead = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"retake"}}]},"scopeSpans":[{"scope":{"name":"retake"},"spans":[`

// Run writes the span of a run, the parent of the spans of its exchanges.
func (o *OTLP) Run(r *transcript.RunSum) error {
	a := attributes{}
	a.text("gen_ai.operation.name", "invoke_agent")
	a.text("gen_ai.conversation.id", r.ID)
	name := firstOf(r.Marks.Name, r.Name, r.Topic)
	a.text("gen_ai.agent.name", name)
	return o.write(&otlpSpan{TraceID: traceID(r.ID), SpanID: spanID(r.ID), Name: strings.TrimSpace("invoke_agent " + name), Kind: spanInternal,
		Start: nanos(r.StartedAt), End: nanos(later(r.StartedAt, r.EndedAt)), Attributes: a})
}

// Chat writes the span of a model call. under is the id of the run whose span is its
// parent, "" for none.
func (o *OTLP) Chat(c *Conversation, under string) error {
	e := c.Exchange
	s := &otlpSpan{TraceID: traceID(firstOf(e.Link.Run, e.ID)), SpanID: spanID(e.ID), Name: strings.TrimSpace("chat " + e.Model), Kind: spanClient,
		Start: nanos(e.StartedAt), End: nanos(later(e.StartedAt, e.EndedAt))}
	if e.StartedAt.IsZero() || e.EndedAt.IsZero() {
		o.Lost.add("unknown times of spans, written as 0")
	}
	if under != "" {
		s.ParentSpanID = spanID(under)
	}
	a := attributes{}
	a.text("gen_ai.operation.name", "chat")
	a.text("gen_ai.provider.name", providerOf(e))
	a.text("gen_ai.conversation.id", e.Link.Run)
	a.text("gen_ai.request.model", e.Model)
	a.text("gen_ai.response.model", e.ResponseModel)
	a.text("gen_ai.response.id", e.ResponseID)
	if e.FinishReason != "" {
		a.texts("gen_ai.response.finish_reasons", []string{e.FinishReason})
	}
	a.parameters(c.Parameters)
	a.usage(e.Usage)
	a.server(e)
	a.messages(c, o.Lost)
	a.text("retake.exchange.id", e.ID)
	a.text("retake.outcome", string(e.Outcome))
	a.flag("retake.complete", e.Complete)
	if e.Outcome != transcript.OK {
		kind := string(e.Outcome)
		if e.Error != nil {
			kind = firstOf(e.Error.Type, e.Error.Code, kind)
			s.Status.Message = transcript.FailureItem(e.Error).Text
		}
		a.text("error.type", kind)
		s.Status.Code = 2
	}
	s.Attributes = a
	return o.write(s)
}

// Tool writes the span of an answered tool call: from the end of the answer that made
// it to the start of the request that brought its result.
func (o *OTLP) Tool(made *transcript.Exchange, call *transcript.Item, result *transcript.Item, brought time.Time) error {
	a := attributes{}
	a.text("gen_ai.operation.name", "execute_tool")
	a.text("gen_ai.tool.name", call.Name)
	a.text("gen_ai.tool.call.id", call.CallID)
	a.text("gen_ai.tool.call.arguments", arguments(call))
	s := &otlpSpan{TraceID: traceID(firstOf(made.Link.Run, made.ID)), SpanID: spanID(made.ID + call.At), ParentSpanID: spanID(made.ID),
		Name: strings.TrimSpace("execute_tool " + call.Name), Kind: spanInternal, Start: nanos(made.EndedAt), End: nanos(later(made.EndedAt, brought))}
	if result != nil {
		a.text("gen_ai.tool.call.result", result.Text)
		if result.IsError {
			a.text("error.type", "tool_error")
			s.Status.Code = 2
		}
	}
	s.Attributes = a
	return o.write(s)
}

func (o *OTLP) write(s *otlpSpan) error {
	text, err := line(s)
	if err != nil {
		return err
	}
	before := otlpHead
	if o.spans > 0 {
		before = ","
	}
	o.spans++
	if _, err := io.WriteString(o.w, before); err != nil {
		return err
	}
	_, err = o.w.Write(text)
	return err
}

// Close writes the end.
func (o *OTLP) Close() error {
	if o.spans == 0 {
		if _, err := io.WriteString(o.w, otlpHead); err != nil {
			return err
		}
	}
	_, err := io.WriteString(o.w, "]}]}]}\n")
	return err
}

// later returns the end of a span, which is never before its start.
func later(from, to time.Time) time.Time {
	if !to.IsZero() && to.Before(from) {
		return from
	}
	return to
}

// nanos returns a time in nanoseconds; an unknown one is 0.
func nanos(t time.Time) string {
	if t.IsZero() {
		return "0"
	}
	return strconv.FormatInt(t.UnixNano(), 10)
}

// traceID returns the 16 bytes of an id, those of a UUID as they are.
func traceID(id string) string {
	if digits := strings.ReplaceAll(id, "-", ""); len(digits) == 32 {
		if _, err := hex.DecodeString(digits); err == nil {
			return strings.ToLower(digits)
		}
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

func spanID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}

func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

func providerOf(e *transcript.Exchange) string {
	if u, err := url.Parse(e.URL); err == nil {
		if p := dialect.ProviderAt(u.Hostname()); p != nil {
			return p.System
		}
	}
	return dialect.HomeOf(e.Dialect).System
}
