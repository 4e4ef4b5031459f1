package formats

import (
	"fmt"
	"go/format"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// GoProgram writes a request as a program that sends it again, using only the
// standard library.
func GoProgram(w io.Writer, r *Request) error {
	var out strings.Builder
	out.WriteString("package main\n\nimport (\n\"fmt\"\n\"io\"\n\"net/http\"\n\"os\"\n\"strings\"\n)\n\n")
	fmt.Fprintf(&out, "const body = %s\n\n", strconv.Quote(string(r.Body)))
	out.WriteString("func main() {\n")
	if r.needsKey() {
		fmt.Fprintf(&out, "key := os.Getenv(%q)\nif key == \"\" {\nfail(\"set %s\")\n}\n", r.variable(), r.variable())
	}
	fmt.Fprintf(&out, "request, err := http.NewRequest(%s, %s, strings.NewReader(body))\nif err != nil {\nfail(err)\n}\n", strconv.Quote(r.Method), r.goText(r.URL))
	if !r.has("User-Agent") {
		out.WriteString("request.Header[\"User-Agent\"] = nil\n")
	}
	for _, h := range r.headerLines() {
		fmt.Fprintf(&out, "request.Header[%[1]q] = append(request.Header[%[1]q], %[2]s)\n", http.CanonicalHeaderKey(h[0]), r.goText(h[1]))
	}
	out.WriteString(`client := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true}}
response, err := client.Do(request)
if err != nil {
fail(err)
}
defer response.Body.Close()
fmt.Fprintln(os.Stderr, response.Status)
if _, err := io.Copy(os.Stdout, response.Body); err != nil {
fail(err)
}
if response.StatusCode >= 400 {
os.Exit(1)
}
}

func fail(why any) {
fmt.Fprintln(os.Stderr, why)
os.Exit(1)
}
`)
	text, err := format.Source([]byte(out.String()))
	if err != nil {
		return fmt.Errorf("write go: %w", err)
	}
	_, err = w.Write(text)
	return err
}

func (r *Request) goText(s string) string {
	before, after, ok := r.around(s)
	if !ok {
		return strconv.Quote(s)
	}
	text := "key"
	if before != "" {
		text = strconv.Quote(before) + " + " + text
	}
	if after != "" {
		text += " + " + strconv.Quote(after)
	}
	return text
}
