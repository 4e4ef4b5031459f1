package formats

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Call is a row of a table of tool calls.
type Call struct {
	Run       string // a short reference, like the next two
	Step      string
	Agent     string
	Exchange  string // id
	CallID    string
	Name      string
	State     string
	IsError   bool
	LatencyMS *float64
	Arguments string
	Result    *string
}

// CSV writes tool calls as a table for spreadsheets. A text that a spreadsheet would
// read as a formula gets a ' before it.
type CSV struct {
	w     *csv.Writer
	begun bool
}

// NewCSV begins a table. Close ends it.
func NewCSV(w io.Writer) *CSV { return &CSV{w: csv.NewWriter(w)} }

// Add writes a row.
func (t *CSV) Add(c *Call) error {
	if err := t.begin(); err != nil {
		return err
	}
	latency, result := "", ""
	if c.LatencyMS != nil {
		latency = strconv.FormatFloat(*c.LatencyMS, 'f', -1, 64)
	}
	if c.Result != nil {
		result = *c.Result
	}
	return t.w.Write([]string{c.Run, c.Step, c.Agent, c.Exchange, cell(c.CallID), cell(c.Name), c.State, strconv.FormatBool(c.IsError),
		latency, strconv.Itoa(len(result)), cell(c.Arguments), cell(result)})
}

func (t *CSV) begin() error {
	if t.begun {
		return nil
	}
	t.begun = true
	return t.w.Write([]string{"run", "step", "agent", "exchange", "call_id", "tool", "state", "is_error", "latency_ms", "result_bytes", "arguments", "result"})
}

// Close writes the rest.
func (t *CSV) Close() error {
	if err := t.begin(); err != nil {
		return err
	}
	t.w.Flush()
	if err := t.w.Error(); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	return nil
}

// cell keeps a text from being read as a formula.
func cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
