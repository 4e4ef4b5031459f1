package decode

import (
	"fmt"
	"maps"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

// redact replaces the secrets in both bodies by placeholders, before anything is
// derived from them, so that the same is derived from what is stored. What was
// caught stays as it is: it may have to be committed once more.
func (d *Decoded) redact(s *redact.Scrubber) {
	caught := *d.capture
	e := d.Exchange
	caught.RequestHeader, _ = redactSide(s, &e.Request, &d.request)
	var splices []redact.Splice
	caught.ResponseHeader, splices = redactSide(s, &e.Response, &d.response)
	if len(splices) > 0 {
		caught.Chunks = moved(caught.Chunks, splices, e.Response.ContentEncoding != encoding(d.capture.ResponseHeader))
		e.Response.Chunks = caught.Chunks
	}
	d.capture = &caught
}

// redactSide replaces the secrets in one body. One that is too large to be looked
// at, or that cannot be decoded, is not stored at all. One that was compressed is
// stored without that, and its headers say nothing of it any more.
func redactSide(s *redact.Scrubber, m *transcript.Message, p *pieces) (headers map[string][]string, splices []redact.Splice) {
	plain := p.body
	packed := m.ContentEncoding != "" && m.ContentEncoding != "identity"
	var err error
	if packed && len(p.body) > 0 {
		plain, err = dialect.Text(m.ContentEncoding, p.body, maxDecode)
	}
	if err != nil {
		m.DecodeError = fmt.Sprintf("decode %s: %v", m.ContentEncoding, err)
	}
	if err != nil || p.source != nil {
		m.Omitted, p.body, p.source = OmitBodies, nil, nil
		return m.Headers, nil
	}
	safe, splices := s.Body(plain)
	if len(splices) == 0 {
		return m.Headers, nil
	}
	p.body = safe
	switch m.Omitted {
	case OmitNothing:
		m.Omitted = OmitSecrets
	case OmitImages:
		m.Omitted = OmitImages + ", " + OmitSecrets
	}
	if packed {
		m.Headers, m.ContentEncoding = withoutEncoding(m.Headers), ""
	}
	return m.Headers, splices
}

func withoutEncoding(headers map[string][]string) map[string][]string {
	rest := maps.Clone(headers)
	maps.DeleteFunc(rest, func(name string, _ []string) bool { return strings.EqualFold(name, "Content-Encoding") })
	return rest
}

// moved gives the arrival of pieces by where they are after the redaction; nothing
// where they were compressed, as a decoder gives no account of them.
func moved(chunks []transcript.Chunk, splices []redact.Splice, packed bool) []transcript.Chunk {
	if packed {
		return nil
	}
	list := make([]transcript.Chunk, len(chunks))
	for i, c := range chunks {
		list[i] = transcript.Chunk{Offset: redact.Moved(splices, c.Offset), At: c.At}
	}
	return list
}
