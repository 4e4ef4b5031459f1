package formats

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

// Source is a file to be imported.
type Source struct {
	Name   string // without folder and ending; distinguishes runs that carry no id
	Reader *bufio.Reader
	// Scratch returns an empty file for what must be read again: histories are not
	// held in memory. Its maker removes it.
	Scratch func() (ScratchFile, error)
	// Bad is called for what was skipped: a line or an element, by its number from 1.
	Bad func(number int64, err error)
	// Redact removes the credentials from headers and URLs.
	Redact *redact.Redactor
	Ctx    context.Context
}

// ScratchFile is a temporary file.
type ScratchFile interface {
	io.ReaderAt
	io.Writer
}

// Importer reads one format.
type Importer struct {
	Name string
	// Fits reports whether a file with that beginning has this format.
	Fits func(head []byte) bool
	read func(s *Source, emit emitter) error
}

// emitter receives an exchange. Its error ends the reading.
type emitter func(*transcript.Capture) error

var errStopped = errors.New("stopped")

// Read returns the exchanges of a file in their order. Their bodies can be read as
// long as the scratch files exist. The sequence ends after an error.
func (i *Importer) Read(s *Source) iter.Seq2[*transcript.Capture, error] {
	return func(yield func(*transcript.Capture, error) bool) {
		err := i.read(s, func(c *transcript.Capture) error {
			if err := s.Ctx.Err(); err != nil {
				return err
			}
			if !yield(c, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// Importers returns all formats that can be read, except archives. If several fit,
// the first is meant.
func Importers() []*Importer {
	return []*Importer{
		{"swe-agent", fitsSWEAgent, readSWEAgent},
		{"otlp-json", fitsOTLP, readOTLP},
		{"har", fitsHAR, readHAR},
		{"gemini-cli", fitsGeminiCLI, readGeminiCLI},
		{"codex", fitsCodex, readCodex},
		{"pi", fitsPi, readPi},
		{"claude-code", fitsClaudeCode, readClaudeCode},
		{"tau-bench", fitsTauBench, readTauBench},
		{"openai-chat", fitsOpenAIChat, readOpenAIChat},
	}
}

// HeadBytes is how much of a file Fits gets.
const HeadBytes = 64 << 10

// begins reports whether a file begins with that character.
func begins(head []byte, c byte) bool {
	t := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(t) > 0 && t[0] == c
}

func holds(head []byte, all ...string) bool {
	for _, s := range all {
		if !bytes.Contains(head, []byte(s)) {
			return false
		}
	}
	return true
}

// firstLine returns the first line of a head.
func firstLine(head []byte) []byte {
	head = bytes.TrimLeft(head, " \t\r\n")
	if i := bytes.IndexByte(head, '\n'); i >= 0 {
		return head[:i]
	}
	return head
}

// mostLine limits the length of a line.
const mostLine = 256 << 20

// lines calls f for the lines of a file with their numbers. A line that f cannot read
// is reported and skipped, but an error of emit ends the reading.
func (s *Source) lines(f func(line []byte) error) error {
	for n := int64(1); ; n++ {
		text, err := s.line()
		if text = bytes.TrimSpace(text); len(text) > 0 {
			if n == 1 {
				text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
			}
			if err := f(text); err != nil {
				if !errors.Is(err, errBadRecord) {
					return err
				}
				s.Bad(n, err)
			}
		}
		if errors.Is(err, errLongLine) {
			s.Bad(n, err)
			err = nil
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read line %d: %w", n, err)
		}
	}
}

var (
	errLongLine  = fmt.Errorf("longer than %d bytes", mostLine)
	errBadRecord = errors.New("cannot be read")
)

// bad returns the error of a record that is skipped.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errBadRecord, fmt.Errorf(format, args...))
}

func (s *Source) line() ([]byte, error) {
	var line []byte
	for {
		part, err := s.Reader.ReadSlice('\n')
		if len(line)+len(part) > mostLine {
			for err == bufio.ErrBufferFull {
				_, err = s.Reader.ReadSlice('\n')
			}
			if err == nil {
				err = errLongLine
			}
			return nil, err
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}
