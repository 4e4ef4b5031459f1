package formats

import (
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Python writes a request as a program that sends it again. It needs only Python 3.8.
func Python(w io.Writer, r *Request) error {
	u, err := url.Parse(r.URL)
	if err != nil {
		return fmt.Errorf("write python: %w", err)
	}
	var out strings.Builder
	out.WriteString("#!/usr/bin/env python3\nimport base64\nimport http.client\nimport os\nimport sys\n\n")
	if r.needsKey() {
		fmt.Fprintf(&out, "key = os.environ[%s]\n", pythonString(r.variable()))
	}
	if utf8.Valid(r.Body) {
		fmt.Fprintf(&out, "body = %s.encode()\n\n", pythonString(string(r.Body)))
	} else {
		fmt.Fprintf(&out, "body = base64.b64decode(\"\"\"\n%s\"\"\")\n\n", base64Lines(r.Body))
	}
	connection := "HTTPConnection"
	if u.Scheme == "https" {
		connection = "HTTPSConnection"
	}
	fmt.Fprintf(&out, "connection = http.client.%s(%s)\n", connection, pythonString(u.Host))
	fmt.Fprintf(&out, "connection.putrequest(%s, %s, skip_accept_encoding=True)\n", pythonString(r.Method), r.pythonText(target(r.URL)))
	for _, h := range r.headerLines() {
		fmt.Fprintf(&out, "connection.putheader(%s, %s)\n", pythonString(h[0]), r.pythonText(h[1]))
	}
	out.WriteString(`connection.putheader("Content-Length", str(len(body)))
connection.endheaders(body)
response = connection.getresponse()
print(response.status, response.reason, file=sys.stderr)
while True:
    piece = response.read1(65536)
    if not piece:
        break
    sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
sys.exit(0 if response.status < 400 else 1)
`)
	_, err = io.WriteString(w, out.String())
	return err
}

func (r *Request) pythonText(s string) string {
	before, after, ok := r.around(s)
	if !ok {
		return pythonString(s)
	}
	text := "key"
	if before != "" {
		text = pythonString(before) + " + " + text
	}
	if after != "" {
		text += " + " + pythonString(after)
	}
	return text
}

// target returns the part of a URL after its host, as it is written.
func target(raw string) string {
	_, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return raw
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[i:]
	} else {
		rest = ""
	}
	rest, _, _ = strings.Cut(rest, "#")
	if !strings.HasPrefix(rest, "/") {
		rest = "/" + rest
	}
	return rest
}
