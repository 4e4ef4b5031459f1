package decode

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// What a user may choose to leave out of what is stored. Length and SHA-256 of
// the wire bytes are kept.
const (
	OmitNothing = ""
	OmitImages  = "images" // pictures in base64
	OmitBodies  = "bodies" // all bodies; what they mean is kept as far as rows hold it
	// OmitSecrets says that a Committer's Redact replaced secrets.
	OmitSecrets = "secrets"
)

// shortestImage is the length of a JSON string from which it can be a picture.
const shortestImage = 512

// omitImages replaces each picture of a JSON body by a text of the same length
// that holds its hash, so that offsets stay and two pictures stay two. It
// reports whether there was any. body is changed in place.
func omitImages(body []byte) bool {
	found := false
	for i := 0; i < len(body); {
		start := bytes.IndexByte(body[i:], '"')
		if start < 0 {
			break
		}
		start += i + 1
		end := start
		for end < len(body) && body[end] != '"' {
			if body[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(body))
		if value := body[start:end]; len(value) >= shortestImage && isPicture(value) {
			blank(value)
			found = true
		}
		i = end + 1
	}
	return found
}

// isPicture tells whether a JSON string holds a picture: a data URL of an image,
// or base64 that begins like an image file.
func isPicture(value []byte) bool {
	if data, ok := bytes.CutPrefix(value, []byte("data:image/")); ok {
		head, _, ok := bytes.Cut(data, []byte(";base64,"))
		return ok && len(head) < 32
	}
	for _, magic := range [...]string{"iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "Qk0"} { // PNG, JPEG, GIF, WebP, BMP
		if bytes.HasPrefix(value, []byte(magic)) {
			return isBase64(value)
		}
	}
	return false
}

func isBase64(value []byte) bool {
	for _, c := range value {
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' || c == '-' || c == '_'
		if !ok {
			return false
		}
	}
	return true
}

func blank(value []byte) {
	sum := sha256.Sum256(value)
	text := "[image omitted, sha256 of its text " + hex.EncodeToString(sum[:]) + "]"
	n := copy(value, text)
	for i := n; i < len(value); i++ {
		value[i] = '.'
	}
}
