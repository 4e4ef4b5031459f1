package transcript

import (
	"io"
	"time"
)

// Capture is an exchange as a recorder or an import read it, not yet decoded. Its
// credentials are redacted.
type Capture struct {
	ID             string
	StartedAt      time.Time // zero if unknown
	EndedAt        time.Time // zero while it is in progress, and if unknown
	Label          string    // the name of its run, "" if it came without one
	Imported       Grade     // "" if it was recorded
	Upstream       string
	Method         string
	URL            string
	RequestHeader  map[string][]string
	ResponseHeader map[string][]string
	Status         int
	Outcome        Outcome // as the transport saw it: OK, UpstreamReset, ClientDisconnect, RecorderCrashed, RecorderStopped, InProgress
	Error          *Error
	Lossy          bool
	FirstByte      time.Duration
	Chunks         []Chunk
	Request        CapturedBody
	Response       CapturedBody
	// What was left out of the bodies; nil: nothing.
	RequestOmission, ResponseOmission *Omission
}

// Omission describes a body that by choice is not what went over the wire.
type Omission struct {
	What   string // as Message.Omitted
	Bytes  int64  // of the wire body
	SHA256 string // of the wire body, hex
}

// Segment is a part of a body. Same, if not nil, stands for its bytes: two segments
// of the same length and the same Same are equal and need not be compared.
type Segment struct {
	Bytes []byte
	Same  any
}

// CapturedBody is the wire bytes of one side. It can be opened any number of times.
type CapturedBody interface {
	Size() int64
	Open() (io.ReadCloser, error)
}
