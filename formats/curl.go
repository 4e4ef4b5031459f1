package formats

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Curl writes a request as a shell script that sends it again with curl. The body
// goes through a pipe, since arguments have a maximum length.
func Curl(w io.Writer, r *Request) error {
	var out strings.Builder
	out.WriteString("#!/bin/sh\n")
	if r.needsKey() {
		fmt.Fprintf(&out, ": \"${%s:?holds the key}\"\n", r.variable())
	}
	end := ""
	switch {
	case len(r.Body) == 0:
	case utf8.Valid(r.Body) && bytes.IndexByte(r.Body, 0) < 0:
		out.WriteString("printf %s " + shellQuote(string(r.Body)) + " |\n")
	default:
		out.WriteString("base64 -d <<'END_OF_BODY' |\n")
		end = base64Lines(r.Body) + "END_OF_BODY\n"
	}
	command := []string{"curl -sS -N -g --path-as-is -X " + shellQuote(r.Method) + " " + r.shellText(r.URL)}
	for _, h := range r.headerLines() {
		if h[1] == "" {
			command = append(command, "-H "+shellQuote(h[0]+";"))
			continue
		}
		command = append(command, "-H "+r.shellText(h[0]+": "+h[1]))
	}
	for _, name := range []string{"Accept", "User-Agent", "Content-Type", "Expect"} { // curl would add these
		if !r.has(name) {
			command = append(command, "-H "+shellQuote(name+":"))
		}
	}
	if len(r.Body) > 0 {
		command = append(command, "--data-binary @-")
	}
	line := strings.Join(command, " \\\n  ") + "\n"
	if end != "" { // a here-document begins after the line that names it
		text := out.String()
		out.Reset()
		out.WriteString(text + end)
	}
	out.WriteString(line)
	_, err := io.WriteString(w, out.String())
	return err
}

// shellText quotes a text that may contain the credential.
func (r *Request) shellText(s string) string {
	before, after, ok := r.around(s)
	if !ok {
		return shellQuote(s)
	}
	text := shellQuote(before) + `"$` + r.variable() + `"`
	if after != "" {
		text += shellQuote(after)
	}
	return text
}

func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
