package relay

import (
	"io"
	"net/http"
)

// hijackEnd ends the answer in place of the server, whose goroutine is stuck in a
// write to the spool or whose connection cannot be used again. It takes the
// connection from the server, writes what follows the last chunk, and closes it.
func (x *exchange) hijackEnd() {
	_ = x.flush()
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		return // the end waits for the write
	}
	defer conn.Close()
	if !x.abort && x.chunked() {
		_, _ = io.WriteString(conn, "0\r\n")
		_ = x.resp.Trailer.Write(conn)
		_, _ = io.WriteString(conn, "\r\n")
	}
}

// chunked reports whether the server sends the answer in chunks.
func (x *exchange) chunked() bool {
	return x.resp != nil && x.w.Header()["Content-Length"] == nil && x.in.ProtoAtLeast(1, 1) && x.in.Method != http.MethodHead &&
		x.resp.StatusCode != http.StatusNoContent && x.resp.StatusCode != http.StatusNotModified
}
