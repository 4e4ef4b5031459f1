package store

import (
	"encoding/hex"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// packID writes an id for a column: 16 bytes for a UUID in its usual spelling,
// the text itself for anything else, NULL for "".
func packID(id string) any {
	if id == "" {
		return nil
	}
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return id
	}
	if b := unhex(id[:8] + id[9:13] + id[14:18] + id[19:23] + id[24:]); b != nil {
		return b
	}
	return id
}

// unpackID is the reverse of packID.
func unpackID(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		if len(v) != 16 {
			return hex.EncodeToString(v)
		}
		var s [36]byte
		hex.Encode(s[:], v[:4])
		hex.Encode(s[9:], v[4:6])
		hex.Encode(s[14:], v[6:8])
		hex.Encode(s[19:], v[8:10])
		hex.Encode(s[24:], v[10:])
		s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
		return string(s[:])
	}
	return ""
}

// packHash writes a SHA-256 in hex as its 32 bytes, anything else as text.
func packHash(s string) any {
	if s == "" {
		return nil
	}
	if len(s) == 64 {
		if b := unhex(s); b != nil {
			return b
		}
	}
	return s
}

func unpackHash(v any) string {
	if b, ok := v.([]byte); ok {
		return hex.EncodeToString(b)
	}
	s, _ := v.(string)
	return s
}

// unhex decodes lower-case hex; nil for anything else, so that what is decoded
// can be spelled the same again.
func unhex(s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return nil
		}
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return nil
	}
	return b
}

func packNode(n *transcript.Node) any {
	if n.IsZero() {
		return nil
	}
	return n[:]
}

func packText(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// packTime writes nanoseconds since 1970; NULL for the zero time.
func packTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}

// storedTime is a time as it comes back.
func storedTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.Unix(0, t.UnixNano()).UTC()
}

func unpackTime(v *int64) time.Time {
	if v == nil {
		return time.Time{}
	}
	return time.Unix(0, *v).UTC()
}
