package decode

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/ingest/link"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

// maxDecode is the size beyond which a body is stored but not decoded.
const maxDecode = 64 << 20

// Decoder decodes captures. It remembers the history that they resend, so that
// decoding costs what is new. The zero Decoder is ready to use; it may be used by
// several goroutines.
type Decoder struct {
	// Omit says what is left out of what is stored: OmitImages or OmitBodies.
	Omit string
	// Redact replaces secrets in bodies before anything of them is stored; nil: they
	// stay. Each body is then searched whole, also what it resends.
	Redact *redact.Scrubber

	memory   dialect.Memory
	digests  digests
	settings settings
	buffers  buffers
}

// Release takes back the memory of a decoded capture that is stored.
func (c *Decoder) Release(d *Decoded) {
	c.buffers.give(d.request.body)
	c.buffers.give(d.response.body)
	c.memory.Release(d.reading)
}

// Decoded is a capture with its meaning, ready to be linked and stored.
type Decoded struct {
	link.Subject
	capture  *transcript.Capture
	reading  *dialect.Reading // what Turn and Keys belong to
	request  pieces
	response pieces
}

// Decode reads a capture. It never fails: a body that cannot be read back makes
// the exchange lossy and says why.
func (c *Decoder) Decode(capture *transcript.Capture) *Decoded {
	d := &Decoded{capture: capture, Subject: link.Subject{Exchange: newExchange(capture)}}
	e := d.Exchange
	d.request = c.readPieces(capture.Request, &e.Request)
	d.response = c.readPieces(capture.Response, &e.Response)
	if c.Omit != OmitNothing || c.Redact != nil { // what is read is not what the wire bytes were
		c.digests.measure(&e.Request, &d.request)
		c.digests.measure(&e.Response, &d.response)
	}
	c.omit(&e.Request, d.request)
	c.omit(&e.Response, d.response)
	if c.Redact != nil {
		d.redact(c.Redact)
		capture = d.capture
	}
	w := &dialect.Wire{Method: capture.Method, URL: capture.URL, RequestHeader: capture.RequestHeader, ResponseHeader: capture.ResponseHeader, Status: capture.Status}
	w.Request = d.plain(&e.Request, d.request)
	w.Response = d.plain(&e.Response, d.response)
	d.Label, d.Header = capture.Label, capture.RequestHeader
	reading := c.understand(w)
	d.reading = reading
	d.Turn, d.Keys, d.Nodes, e.Dialect = reading.Turn, reading.Keys, reading.Nodes, reading.Turn.Dialect
	d.Where = link.ChainIndex(d.Turn.Input)
	d.Settings = c.settings.of(d.Turn.Input)
	if e.Request.ContentEncoding == "" {
		d.request.cuts, d.request.marks = reading.Cuts, reading.Marks
	}
	if c.Omit == OmitNothing && c.Redact == nil {
		c.digests.measure(&e.Request, &d.request)
		c.digests.measure(&e.Response, &d.response)
	}
	leftOut(&e.Request, capture.RequestOmission)
	leftOut(&e.Response, capture.ResponseOmission)
	d.describe()
	return d
}

// StoreBodies stores the bodies that are not omitted.
func (d *Decoded) StoreBodies(tx transcript.BodyWriter) (err error) {
	e := d.Exchange
	if e.Request.Omitted != OmitBodies {
		if e.Request.Body, err = d.request.store(tx, &e.Request); err != nil {
			return err
		}
	}
	if e.Response.Omitted != OmitBodies {
		if e.Response.Body, err = d.response.store(tx, &e.Response); err != nil {
			return err
		}
	}
	e.Lossy = e.Lossy || d.request.failed != nil || d.response.failed != nil
	return nil
}

// leftOut says what was left out of one side by whoever recorded it.
func leftOut(m *transcript.Message, o *transcript.Omission) {
	if o != nil {
		m.Omitted, m.Bytes, m.SHA256 = o.What, o.Bytes, o.SHA256
	}
}

// omit leaves out what the user wants left out. Pictures go before anything is
// derived, so that the same is derived from what is stored.
func (c *Decoder) omit(m *transcript.Message, p pieces) {
	switch {
	case p.body == nil && p.source == nil:
	case c.Omit == OmitBodies:
		m.Omitted = OmitBodies
	case c.Omit == OmitImages && m.ContentEncoding == "" && omitImages(p.body):
		m.Omitted = OmitImages
	}
}

// understand decodes an exchange. A fault in a decoder must not end recording:
// what it cannot take is kept raw.
func (c *Decoder) understand(w *dialect.Wire) (reading *dialect.Reading) {
	defer func() {
		if fault := recover(); fault != nil {
			reading = dialect.Read(new(dialect.Memory), transcript.Unknown, w)
			reading.Turn.Warnings = []string{fmt.Sprintf("the decoder failed: %v", fault)}
		}
	}()
	return dialect.Read(&c.memory, dialect.Recognise(w), w)
}

func newExchange(c *transcript.Capture) *transcript.Exchange {
	e := &transcript.Exchange{
		ID: c.ID, StartedAt: c.StartedAt, EndedAt: c.EndedAt, Upstream: c.Upstream, Method: c.Method, URL: c.URL,
		Status: c.Status, Outcome: c.Outcome, Lossy: c.Lossy, Error: c.Error, Imported: c.Imported,
		Request:  transcript.Message{Headers: c.RequestHeader, ContentEncoding: encoding(c.RequestHeader)},
		Response: transcript.Message{Headers: c.ResponseHeader, ContentEncoding: encoding(c.ResponseHeader), Chunks: c.Chunks},
		Timing:   transcript.Timing{FirstByte: c.FirstByte},
		Link:     transcript.Link{Labelled: c.Label != ""},
	}
	if took := transcript.Between(c.StartedAt, c.EndedAt); took != nil {
		e.Timing.Duration = *took
	}
	return e
}

func encoding(header map[string][]string) string {
	for name, values := range header {
		if strings.EqualFold(name, "Content-Encoding") {
			return strings.ToLower(strings.Join(values, ", "))
		}
	}
	return ""
}

// plain undoes the content encoding of one side.
func (d *Decoded) plain(m *transcript.Message, p pieces) []byte {
	if m.ContentEncoding == "" || m.ContentEncoding == "identity" || len(p.body) == 0 {
		return p.body
	}
	text, err := dialect.Text(m.ContentEncoding, p.body, maxDecode)
	if err != nil {
		m.DecodeError = fmt.Sprintf("decode %s: %v", m.ContentEncoding, err)
	}
	return text
}

// describe fills what the exchange says of its turn.
func (d *Decoded) describe() {
	e, t := d.Exchange, d.Turn
	e.Stream, e.Complete, e.Model, e.ResponseModel = t.Stream, t.Complete, t.Model, t.ResponseModel
	e.ResponseID, e.FinishReason, e.Usage = t.ResponseID, t.FinishReason, t.Usage
	e.Timing.Events = t.Events
	e.Warnings = t.Warnings
	e.Preview = preview(t.Input)
	for i := range t.Input {
		if t.Input[i].Kind == transcript.ToolDefinition {
			e.Tools++
		}
	}
	for i := range t.Output {
		if t.Output[i].Kind == transcript.ToolCall && !t.Output[i].ServerSide {
			e.Calls++
		}
	}
	if t.FirstContentAt > 0 {
		e.Timing.FirstToken = arrival(d.capture.Chunks, d.onWire(t.FirstContentAt))
	}
	if e.Dialect == transcript.Unknown {
		e.Complete = e.Outcome == transcript.OK
	}
	settle(e, t)
}

// settle corrects what the transport saw by what the answer said: an error
// inside a 200 is a failure, and a client that hangs up after the terminal
// event has not failed.
func settle(e *transcript.Exchange, t *transcript.Turn) {
	was := transcript.Ending{Outcome: e.Outcome, Error: e.Error}
	correct(e, t)
	if now := seen(e); now.Outcome != was.Outcome || now.Error != was.Error {
		e.TransportEnding = &was
	}
}

// seen gives how the transport saw the end of an exchange that is settled.
func seen(e *transcript.Exchange) transcript.Ending {
	switch {
	case e.TransportEnding != nil:
		return *e.TransportEnding
	case e.Outcome == transcript.HTTPError, e.Outcome == transcript.StreamError:
		return transcript.Ending{Outcome: transcript.OK}
	}
	return transcript.Ending{Outcome: e.Outcome, Error: e.Error}
}

func correct(e *transcript.Exchange, t *transcript.Turn) {
	if t.Error != nil && e.Error == nil {
		e.Error = t.Error
	}
	switch {
	case e.Outcome == transcript.ClientDisconnect && t.Complete && t.Error == nil && e.Status < 400:
		e.Outcome, e.Error = transcript.OK, nil
	case e.Outcome != transcript.OK && e.Outcome != transcript.ClientDisconnect:
	case e.Status >= 400:
		e.Outcome = transcript.HTTPError
	case t.Error != nil:
		e.Outcome = transcript.StreamError
	}
	if e.Outcome == transcript.StreamError {
		e.Complete = false
	}
}

// onWire gives the offset in the wire bytes by which the decoded response body
// was there up to offset. Those of a compressed body are searched for, since a
// decoder gives no account of them.
func (d *Decoded) onWire(offset int64) int64 {
	m := &d.Exchange.Response
	if m.ContentEncoding == "" || m.ContentEncoding == "identity" {
		return offset
	}
	wire, chunks := d.response.body, d.capture.Chunks
	end := func(i int) int64 {
		if i+1 < len(chunks) {
			return min(chunks[i+1].Offset, int64(len(wire)))
		}
		return int64(len(wire))
	}
	i := sort.Search(len(chunks), func(i int) bool {
		plain, _ := dialect.Text(m.ContentEncoding, wire[:end(i)], maxDecode)
		return int64(len(plain)) >= offset
	})
	return end(i)
}

// arrival tells when the byte before offset came in.
func arrival(chunks []transcript.Chunk, offset int64) time.Duration {
	i, _ := slices.BinarySearchFunc(chunks, offset, func(c transcript.Chunk, o int64) int {
		if c.Offset < o {
			return -1
		}
		return 1
	})
	if i == 0 {
		return 0
	}
	return chunks[i-1].At.Truncate(time.Microsecond) // as it is kept
}

// preview is the start of what the request is about; where it brings only tool
// results, of the last one.
func preview(items []transcript.Item) string {
	if topic := transcript.Topic(items); topic != "" {
		return oneLine(topic, 120)
	}
	for i := len(items) - 1; i >= 0; i-- {
		if it := &items[i]; it.Kind == transcript.ToolResult && strings.TrimSpace(it.Text) != "" {
			return "↳ " + oneLine(it.Text, 118)
		}
	}
	return ""
}

// oneLine gives the start of a text with its white space made single spaces.
func oneLine(s string, most int) string {
	line := make([]rune, 0, most+2)
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if space && len(line) > 0 {
			line = append(line, ' ')
		}
		line, space = append(line, r), false
		if len(line) > most {
			return string(line[:most-1]) + "…"
		}
	}
	return string(line)
}
