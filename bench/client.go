package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// client sends requests over one connection and checks every byte of the answers.
// It writes requests by hand, since its time is taken from the machine that is
// measured.
type client struct {
	job     *job
	text    text
	connect net.Conn
	reader  *bufio.Reader
	request []byte
	want    []byte
	got     []byte
}

func newClient(j *job, t text) *client {
	return &client{job: j, text: t, reader: bufio.NewReaderSize(nil, 64<<10)}
}

// exchangeWithin bounds one exchange.
const exchangeWithin = 60 * time.Second

// once sends a request and reads its answer. It returns how long the whole took,
// and the first chunk of the answer's body. plain asks for an answer that is not
// streamed, whatever the scenario says.
func (c *client) once(body []byte, plain bool) (whole, first time.Duration, err error) {
	c.prepare(body, plain)
	if c.connect == nil {
		if c.connect, err = net.DialTimeout("tcp", c.job.Address, 5*time.Second); err != nil {
			c.connect = nil
			time.Sleep(10 * time.Millisecond) // do not hammer a target that is down
			return 0, 0, err
		}
		c.reader.Reset(c.connect)
	}
	start := time.Now()
	_ = c.connect.SetDeadline(start.Add(exchangeWithin))
	if _, err = c.connect.Write(c.request); err == nil {
		first, err = c.read(start)
	}
	if err != nil {
		c.close()
		return 0, 0, err
	}
	return time.Since(start), first, nil
}

// prepare makes the request and the answer that it must have.
func (c *client) prepare(body []byte, plain bool) {
	s, m := &c.job.Scenario, markOf(body)
	b := append(c.request[:0], "POST /v1/chat/completions HTTP/1.1\r\nHost: "...)
	b = append(b, c.job.Address...)
	b = append(b, "\r\nAccept: application/json\r\nAccept-Encoding: identity\r\nAuthorization: Bearer sk-bench\r\nContent-Type: application/json\r\nUser-Agent: bench/1\r\n"...)
	header := func(name string, value int) {
		b = append(b, name...)
		b = append(b, ": "...)
		b = strconv.AppendInt(b, int64(value), 10)
		b = append(b, "\r\n"...)
	}
	if s.Events > 0 && !plain {
		header(headerEvents, s.Events)
		header(headerPace, int(s.Pace))
		c.want = appendStream(c.want[:0], c.text, m, s.Events)
	} else {
		header(headerSize, s.Answer)
		c.want = appendAnswer(c.want[:0], c.text, m, s.Answer)
	}
	header("Content-Length", len(body))
	c.request = append(append(b, "\r\n"...), body...)
}

var errWrongAnswer = errors.New("the answer is not what the model sent")

// read reads an answer.
func (c *client) read(start time.Time) (first time.Duration, err error) {
	resp, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return 0, fmt.Errorf("%s: %s", resp.Status, text)
	}
	if need := len(c.want) + 1; cap(c.got) < need {
		c.got = make([]byte, need)
	}
	got := c.got[:len(c.want)+1] // one more, to notice extra bytes
	n := 0
	for err == nil && n < len(got) {
		var k int
		k, err = resp.Body.Read(got[n:])
		if first == 0 && k > 0 {
			first = time.Since(start)
		}
		n += k
	}
	switch {
	case err != nil && err != io.EOF:
		return 0, fmt.Errorf("read answer: %w", err)
	case !bytes.Equal(got[:n], c.want):
		return 0, fmt.Errorf("%w: %d bytes, want %d", errWrongAnswer, n, len(c.want))
	}
	if resp.Close {
		c.close()
	}
	return first, nil
}

func (c *client) close() {
	if c.connect != nil {
		c.connect.Close()
		c.connect = nil
	}
}
