package formats

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

// Bodies are both sides of an exchange with their content encodings undone.
type Bodies struct{ Request, Response []byte }

// HAR writes exchanges as an HTTP archive, version 1.2. Members that begin with _ are
// our own, as the specification allows.
type HAR struct {
	w       io.Writer
	Version string // of this program
	Lost    *Losses
	entries int
}

// NewHAR begins an archive. Close ends it.
func NewHAR(w io.Writer, version string, lost *Losses) *HAR {
	return &HAR{w: w, Version: version, Lost: lost}
}

type harEntry struct {
	StartedDateTime string      `json:"startedDateTime"`
	Time            float64     `json:"time"` // ms
	Request         harRequest  `json:"request"`
	Response        harResponse `json:"response"`
	Cache           struct{}    `json:"cache"`
	Timings         harTimings  `json:"timings"`
	ID              string      `json:"_id"`
	Outcome         string      `json:"_outcome"`
	Complete        bool        `json:"_complete"`
	Run             string      `json:"_run,omitempty"`
	Error           string      `json:"_error,omitempty"`
}

type harRequest struct {
	Method      string     `json:"method"`
	URL         string     `json:"url"`
	HTTPVersion string     `json:"httpVersion"`
	Cookies     []struct{} `json:"cookies"`
	Headers     []harPair  `json:"headers"`
	QueryString []harPair  `json:"queryString"`
	PostData    *harPost   `json:"postData,omitempty"`
	HeadersSize int        `json:"headersSize"`
	BodySize    int64      `json:"bodySize"`
}

type harResponse struct {
	Status      int        `json:"status"`
	StatusText  string     `json:"statusText"`
	HTTPVersion string     `json:"httpVersion"`
	Cookies     []struct{} `json:"cookies"`
	Headers     []harPair  `json:"headers"`
	Content     harContent `json:"content"`
	RedirectURL string     `json:"redirectURL"`
	HeadersSize int        `json:"headersSize"`
	BodySize    int64      `json:"bodySize"`
}

type harPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type harPost struct {
	MimeType string    `json:"mimeType"`
	Params   []harPair `json:"params"`
	Text     string    `json:"text"`
	Encoding string    `json:"_encoding,omitempty"` // "base64"
}

type harContent struct {
	Size     int    `json:"size"`
	MimeType string `json:"mimeType"`
	Text     string `json:"text,omitempty"`
	Encoding string `json:"encoding,omitempty"` // "base64"
}

type harTimings struct {
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
}

// Add writes an exchange.
func (h *HAR) Add(e *transcript.Exchange, b Bodies) error {
	if e.Request.ContentEncoding != "" {
		h.Lost.add("the compressed form of requests")
	}
	if len(e.Response.Chunks) > 0 {
		h.Lost.add("arrival times of chunks")
	}
	if e.Request.Omitted != "" || e.Response.Omitted != "" {
		h.Lost.add("exchanges whose bodies were not stored whole")
	}
	if e.StartedAt.IsZero() {
		h.Lost.add("unknown start times of exchanges, written as the year 1")
	}
	entry := harEntry{
		StartedDateTime: e.StartedAt.Format(time.RFC3339Nano), Time: milliseconds(e.Timing.Duration),
		Request: harRequest{Method: e.Method, URL: e.URL, HTTPVersion: "HTTP/1.1", Cookies: []struct{}{}, Headers: harHeaders(e.Request.Headers),
			QueryString: harQuery(e.URL), HeadersSize: -1, BodySize: e.Request.Bytes},
		Response: harResponse{Status: e.Status, StatusText: http.StatusText(e.Status), HTTPVersion: "HTTP/1.1", Cookies: []struct{}{}, Headers: harHeaders(e.Response.Headers),
			RedirectURL: first(e.Response.Headers, "Location"), HeadersSize: -1, BodySize: e.Response.Bytes},
		Timings: harTimings{Send: 0, Wait: milliseconds(e.Timing.FirstByte), Receive: milliseconds(e.Timing.Duration - e.Timing.FirstByte)},
		ID:      e.ID, Outcome: string(e.Outcome), Complete: e.Complete, Run: e.Link.Run,
	}
	if e.Error != nil {
		entry.Error = transcript.FailureItem(e.Error).Text
	}
	if len(b.Request) > 0 {
		text, encoding := bodyText(b.Request)
		entry.Request.PostData = &harPost{MimeType: first(e.Request.Headers, "Content-Type"), Params: []harPair{}, Text: text, Encoding: encoding}
	}
	text, encoding := bodyText(b.Response)
	entry.Response.Content = harContent{Size: len(b.Response), MimeType: first(e.Response.Headers, "Content-Type"), Text: text, Encoding: encoding}
	return h.write(entry)
}

func (h *HAR) write(entry harEntry) error {
	text, err := line(entry)
	if err != nil {
		return err
	}
	if err := h.begin(); err != nil {
		return err
	}
	separator := ",\n"
	if h.entries == 0 {
		separator = "\n"
	}
	h.entries++
	if _, err := io.WriteString(h.w, separator); err != nil {
		return err
	}
	_, err = h.w.Write(text)
	return err
}

func (h *HAR) begin() error {
	if h.entries > 0 {
		return nil
	}
	creator, err := line(map[string]string{"name": "Retake", "version": h.Version})
	if err != nil {
		return err
	}
	_, err = io.WriteString(h.w, `{"log":{"version":"1.2","creator":`+string(creator)+`,"pages":[],"entries":[`)
	return err
}

// Close writes the end.
func (h *HAR) Close() error {
	if err := h.begin(); err != nil {
		return err
	}
	_, err := io.WriteString(h.w, "]}}\n")
	return err
}

// bodyText returns a body as JSON can hold it.
func bodyText(b []byte) (text, encoding string) {
	if utf8.Valid(b) {
		return string(b), ""
	}
	return base64.StdEncoding.EncodeToString(b), "base64"
}

func harHeaders(h map[string][]string) []harPair {
	list := []harPair{}
	for _, name := range sortedNames(h) {
		for _, v := range h[name] {
			list = append(list, harPair{name, v})
		}
	}
	return list
}

func sortedNames(h map[string][]string) []string {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func harQuery(raw string) []harPair {
	list := []harPair{}
	u, err := url.Parse(raw)
	if err != nil {
		return list
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name == "" {
			continue
		}
		list = append(list, harPair{unescaped(name), unescaped(value)})
	}
	return list
}

func unescaped(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// first returns the first value of a header, by its name in any case.
func first(h map[string][]string, name string) string {
	for n, v := range h {
		if len(v) > 0 && strings.EqualFold(n, name) {
			return v[0]
		}
	}
	return ""
}

func milliseconds(d time.Duration) float64 { return float64(max(0, d).Microseconds()) / 1000 }
