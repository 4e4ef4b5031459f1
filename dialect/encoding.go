package dialect

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// ErrTooLarge says that a body unpacks to more than was allowed.
var ErrTooLarge = errors.New("body unpacks to more than the limit")

// maxEncodings is how many encodings may lie on top of one another.
const maxEncodings = 5

// maxWindow bounds the memory a zstd frame may ask for; RFC 8878 wants 8 MB.
const maxWindow = 64 << 20

// Text undoes a Content-Encoding (gzip, deflate, zstd, br, identity, or a
// list of them) and gives at most limit bytes; limit 0 means no limit. Of a
// body that is cut or damaged it gives what could be unpacked, with the error.
// The result may share memory with body.
func Text(encoding string, body []byte, limit int64) ([]byte, error) {
	names := strings.Split(encoding, ",")
	if len(names) > maxEncodings {
		return nil, fmt.Errorf("unpack body: %d encodings on top of one another", len(names))
	}
	var failed error
	for i := len(names) - 1; i >= 0; i-- {
		name := strings.ToLower(strings.TrimSpace(names[i]))
		if name == "" || name == "identity" || len(body) == 0 {
			continue
		}
		out, err := unpack(name, body, limit)
		if err != nil && failed == nil {
			failed = fmt.Errorf("unpack %s body: %w", name, err)
		}
		if out == nil && err != nil {
			return nil, failed
		}
		body = out
	}
	if limit > 0 && int64(len(body)) > limit {
		return body[:limit:limit], ErrTooLarge
	}
	return body, failed
}

// unpack gives nil with the error if not a byte could be read.
func unpack(name string, body []byte, limit int64) ([]byte, error) {
	r, err := unpacker(name, body)
	if err != nil {
		return nil, err
	}
	if c, ok := r.(io.Closer); ok {
		defer c.Close()
	}
	if limit > 0 {
		r = io.LimitReader(r, limit+1)
	}
	var out bytes.Buffer
	_, err = out.ReadFrom(r)
	if limit > 0 && int64(out.Len()) > limit {
		return out.Bytes()[:limit:limit], ErrTooLarge
	}
	if err != nil && out.Len() == 0 {
		return nil, err
	}
	return out.Bytes(), err
}

func unpacker(name string, body []byte) (io.Reader, error) {
	switch name {
	case "gzip", "x-gzip":
		return gzip.NewReader(bytes.NewReader(body))
	case "deflate": // zlib by RFC 9110, but bare deflate is sent too
		if len(body) > 1 && body[0]&15 == 8 && (int(body[0])<<8|int(body[1]))%31 == 0 {
			return zlib.NewReader(bytes.NewReader(body))
		}
		return flate.NewReader(bytes.NewReader(body)), nil
	case "br":
		return brotli.NewReader(bytes.NewReader(body)), nil
	case "zstd":
		d, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return nil, errors.New("unknown encoding")
}
