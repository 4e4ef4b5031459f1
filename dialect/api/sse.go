package api

import "bytes"

// Event is one event of a stream of server-sent events.
type Event struct {
	Name string // of its event: field
	Data []byte // its data: lines joined by a line feed; valid until the callback returns
	End  int64  // offset in the stream behind the event's blank line
	// Unterminated says that the stream ended before the event's blank line.
	// The WHATWG algorithm and the official SDKs throw such an event away; its
	// bytes did arrive, so it is kept here.
	Unterminated bool
}

// SSE reads an event stream as it arrives, in pieces cut anywhere: inside a
// character, inside a field, between CR and LF. Lines end with LF, CRLF or CR
// (Gemini and Vertex send CRLF). The zero SSE is ready to use.
type SSE struct {
	Comments int // comment lines, such as ": OPENROUTER PROCESSING"
	Events   int // events handed over
	Strange  int // lines with a field that the grammar does not know

	offset  int64  // of the piece being read
	line    []byte // the start of a line that the last piece cut
	afterCR bool   // the last byte was CR: a LF that follows belongs to it
	begun   bool   // behind the byte order mark, if there is one
	name    string
	data    []byte
	owned   bool // data is our own memory, not the piece's
	hasData bool
}

// Feed reads the next piece and calls f for each event that ends in it.
func (s *SSE) Feed(p []byte, f func(Event)) {
	base := s.offset
	i := 0
	if s.afterCR && len(p) > 0 {
		if s.afterCR = false; p[0] == '\n' {
			i = 1
		}
	}
	for lf := -1; i < len(p); {
		if lf < i { // looked for once, or lines that end with CR cost a search each
			if lf = bytes.IndexByte(p[i:], '\n') + i; lf < i {
				lf = len(p)
			}
		}
		end := lf
		if cr := bytes.IndexByte(p[i:lf], '\r'); cr >= 0 {
			end = i + cr
		}
		if end == len(p) {
			s.line = append(s.line, p[i:]...)
			break
		}
		line := p[i:end]
		i = end + 1
		if p[end] == '\r' {
			if i < len(p) {
				if p[i] == '\n' {
					i++
				}
			} else {
				s.afterCR = true
			}
		}
		held := len(s.line) > 0
		if held {
			s.line = append(s.line, line...)
			line = s.line
		}
		s.take(line, held, base+int64(i), f)
		if held {
			s.line = s.line[:0]
		}
	}
	s.offset += int64(len(p))
	s.own()
}

// Close ends the stream. An event whose blank line did not come is handed
// over as Unterminated, its last line included if that did not end either.
func (s *SSE) Close(f func(Event)) {
	if len(s.line) > 0 {
		s.take(s.line, true, s.offset, f)
		s.line = nil
	}
	if s.hasData {
		s.dispatch(Event{Unterminated: true, End: s.offset}, f)
	}
}

// own copies what is kept of a piece before its memory is given back.
func (s *SSE) own() {
	if s.hasData && !s.owned {
		s.data, s.owned = append([]byte(nil), s.data...), true
	}
}

func (s *SSE) take(line []byte, held bool, end int64, f func(Event)) {
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if len(line) == 0 {
		if s.hasData {
			s.dispatch(Event{End: end}, f)
		}
		s.name = ""
		return
	}
	if line[0] == ':' {
		s.Comments++
		return
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(field) {
	case "data":
		s.addData(value, held)
	case "event":
		s.name = string(value)
	case "id", "retry":
	default:
		s.Strange++
	}
}

func (s *SSE) addData(value []byte, held bool) {
	if !s.hasData {
		s.hasData = true
		if s.data, s.owned = value, false; held {
			s.own()
		}
		return
	}
	s.own()
	s.data = append(append(s.data, '\n'), value...)
}

func (s *SSE) dispatch(e Event, f func(Event)) {
	s.Events++
	e.Name, e.Data = s.name, s.data
	s.name, s.data, s.hasData, s.owned = "", nil, false, false
	f(e)
}
