package formats

import (
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// Claude Code logs a session as lines, one for each block and each result. The lines
// of one answer have the same message.id, and the last of them has its usage.
// Sub-agents have files of their own, distinguished by agentId. System prompt and
// tools are not logged, so the exchanges are for viewing only. Lines of type progress
// repeat what sub-agents said and are left out.
type claudeRecord struct {
	Type        string          `json:"type"`
	UUID        string          `json:"uuid"`
	SessionID   string          `json:"sessionId"`
	AgentID     string          `json:"agentId"`
	IsSidechain bool            `json:"isSidechain"`
	IsSummary   bool            `json:"isCompactSummary"`
	Timestamp   string          `json:"timestamp"`
	Message     json.RawMessage `json:"message"`
}

type claudeMessage struct {
	ID         string          `json:"id"`
	Role       string          `json:"role"`
	Model      string          `json:"model"`
	Content    json.RawMessage `json:"content"`
	StopReason *string         `json:"stop_reason"`
	Usage      json.RawMessage `json:"usage"`
}

func fitsClaudeCode(head []byte) bool {
	return begins(head, '{') && holds(head, `"sessionId"`, `"type"`) && (holds(head, `"parentUuid"`) || holds(head, `"isSnapshotUpdate"`) || holds(head, `"leafUuid"`))
}

func readClaudeCode(s *Source, emit emitter) error {
	c := claudeCode{source: s, emit: emit, agents: map[string]*claudeAgent{}}
	if err := s.lines(c.line); err != nil {
		return err
	}
	for _, a := range c.order {
		if err := a.flush(); err != nil {
			return err
		}
	}
	return nil
}

type claudeCode struct {
	source *Source
	emit   emitter
	agents map[string]*claudeAgent
	order  []*claudeAgent
}

// claudeAgent is one sequence of messages, with the answer that is still being read.
type claudeAgent struct {
	*rebuilding
	id      string // of the answer
	model   string
	stop    string
	usage   json.RawMessage
	blocks  []json.RawMessage
	results []json.RawMessage // that came during the answer: tools run as their calls arrive
	came    clock             // of the results
	ended   time.Time
}

func (c *claudeCode) line(text []byte) error {
	var r claudeRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return bad("read record: %w", err)
	}
	if r.Type != "user" && r.Type != "assistant" {
		return nil
	}
	var m claudeMessage
	if err := json.Unmarshal(r.Message, &m); err != nil {
		return bad("read message: %w", err)
	}
	a := c.agent(&r)
	if r.Type == "assistant" {
		return a.block(&r, &m)
	}
	return a.user(&r, &m)
}

func (c *claudeCode) agent(r *claudeRecord) *claudeAgent {
	id := r.AgentID
	if id == "" && r.IsSidechain {
		id = "sidechain"
	}
	key := r.SessionID + "\x00" + id
	a := c.agents[key]
	if a == nil {
		a = &claudeAgent{rebuilding: c.source.rebuild(transcript.Messages, "claude-code\x00"+key, c.emit)}
		a.header["X-Claude-Code-Session-Id"] = []string{r.SessionID}
		if id != "" && !strings.HasPrefix(id, "acompact") { // the main agent makes its own summary
			a.header["X-Claude-Code-Agent-Id"] = []string{id}
		}
		c.agents[key] = a
		c.order = append(c.order, a)
	}
	return a
}

// synthetic is the model of messages that Claude Code writes in place of a model.
const synthetic = "<synthetic>"

func (a *claudeAgent) block(r *claudeRecord, m *claudeMessage) error {
	if m.Model == synthetic {
		return nil
	}
	if m.ID == "" {
		m.ID = r.UUID
	}
	if m.ID != a.id {
		if err := a.flush(); err != nil {
			return err
		}
		a.id = m.ID
	}
	blocks, err := contentBlocks(m.Content)
	if err != nil {
		return err
	}
	a.blocks = append(a.blocks, blocks...)
	a.model, a.usage, a.ended = m.Model, m.Usage, moment(r.Timestamp)
	if m.StopReason != nil {
		a.stop = *m.StopReason
	}
	return nil
}

// contentBlocks reads a list of blocks, or a text as one block.
func contentBlocks(raw json.RawMessage) ([]json.RawMessage, error) {
	var blocks []json.RawMessage
	if json.Unmarshal(raw, &blocks) == nil {
		return blocks, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, bad("read content: %w", err)
	}
	block, err := line(block{Type: "text", Text: text})
	return []json.RawMessage{block}, err
}

func (a *claudeAgent) user(r *claudeRecord, m *claudeMessage) error {
	if a.id != "" && isResults(m.Content) {
		blocks, err := contentBlocks(m.Content)
		a.results = append(a.results, blocks...)
		a.came.at(moment(r.Timestamp))
		return err
	}
	if err := a.flush(); err != nil {
		return err
	}
	if r.IsSummary {
		a.forget()
	}
	a.at(moment(r.Timestamp))
	element, err := line(object{"role": "user", "content": m.Content})
	if err != nil {
		return bad("read content: %w", err)
	}
	return a.said(element)
}

func isResults(raw json.RawMessage) bool {
	var blocks []struct{ Type string }
	if json.Unmarshal(raw, &blocks) != nil {
		return false
	}
	for _, b := range blocks {
		if b.Type == "tool_result" {
			return true
		}
	}
	return false
}

// flush emits the complete answer, and adds it and its results to the history.
func (a *claudeAgent) flush() error {
	if a.id == "" {
		return nil
	}
	unended := a.stop == ""
	if unended {
		a.stop = "end_turn"
		if hasBlock(a.blocks, "tool_use") {
			a.stop = "tool_use"
		}
	}
	response := object{"id": a.id, "type": "message", "role": "assistant", "model": a.model, "content": a.blocks, "stop_reason": a.stop}
	if len(a.usage) > 0 {
		response["usage"] = a.usage
	}
	answer := answerTo{model: a.model, response: response, ended: a.ended}
	if usage := a.usageWithoutEnd(); unended && usage != nil {
		told := maps.Clone(response)
		told["usage"] = usage
		answer.known, answer.response = response, told
	}
	err := a.answered(answer)
	if err == nil {
		err = a.sayBlocks("assistant", a.blocks)
	}
	if err == nil && len(a.results) > 0 {
		a.at(a.came.now)
		err = a.sayBlocks("user", a.results)
	}
	a.id, a.stop, a.blocks, a.results, a.usage, a.came = "", "", nil, nil, nil, clock{}
	return err
}

func (a *claudeAgent) sayBlocks(role string, blocks []json.RawMessage) error {
	if len(blocks) == 0 {
		return nil
	}
	element, err := line(object{"role": role, "content": blocks})
	if err != nil {
		return bad("read content: %w", err)
	}
	return a.said(element)
}

func hasBlock(blocks []json.RawMessage, kind string) bool {
	for _, b := range blocks {
		var t struct{ Type string }
		if json.Unmarshal(b, &t) == nil && t.Type == kind {
			return true
		}
	}
	return false
}

// usageWithoutEnd returns the usage without its output tokens if that figure is the
// one that the answer began with, which is far too low; nil if the figure may be
// right.
func (a *claudeAgent) usageWithoutEnd() map[string]json.RawMessage {
	var usage map[string]json.RawMessage
	var tokens int64
	if json.Unmarshal(a.usage, &usage) != nil || json.Unmarshal(usage["output_tokens"], &tokens) != nil || tokens*mostOfToken >= a.leastSaid() {
		return nil
	}
	delete(usage, "output_tokens")
	return usage
}

const (
	mostOfToken = 12  // most bytes per token
	leastOfCall = 100 // least bytes of a call without its arguments
)

// leastSaid returns how many bytes the model wrote at least.
func (a *claudeAgent) leastSaid() (n int64) {
	for _, raw := range a.blocks {
		var b struct {
			Type, Text, Thinking string
			Input                json.RawMessage
		}
		if json.Unmarshal(raw, &b) != nil {
			continue
		}
		n += int64(len(b.Text) + len(b.Thinking) + len(b.Input))
		if b.Type == "tool_use" {
			n += leastOfCall
		}
	}
	return n
}
