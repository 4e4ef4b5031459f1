package formats

import (
	"encoding/base64"
	"time"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

// An archive is lossless: lines of JSON, compressed with zstd. The first line names the
// format; each of the others is one of
//
//	segment    a part of bodies, numbered from 0 in the order of the lines
//	exchange   an exchange as it was on the wire; its bodies are lists of segments
//	marks      what users said about the run of an exchange
//	override   what users said about an exchange
//	take       which exchange replayed which, with what edits
//
// A segment comes before the first exchange that needs it. What can be derived from the
// bytes is left out, except for links: a reader need not link again, and can compare.
const archiveVersion = 1

type archiveHead struct {
	Archive int `json:"retake_archive"`
}

type archiveLine struct {
	Segment  *archiveSegment  `json:"segment,omitempty"`
	Exchange *archiveExchange `json:"exchange,omitempty"`
	Marks    *archiveMarks    `json:"marks,omitempty"`
	Override *archiveOverride `json:"override,omitempty"`
	Take     *archiveTake     `json:"take,omitempty"`
}

type archiveSegment struct {
	Text   string `json:"text,omitempty"`
	Base64 string `json:"base64,omitempty"` // of a segment that is not UTF-8
}

type archiveExchange struct {
	ID        string             `json:"id"`
	StartedAt time.Time          `json:"started_at,omitzero"` // absent if unknown, like the next
	EndedAt   time.Time          `json:"ended_at,omitzero"`
	Label     string             `json:"label,omitempty"`
	Grade     transcript.Grade   `json:"imported,omitempty"` // absent for "exact"
	Upstream  string             `json:"upstream,omitempty"`
	Method    string             `json:"method"`
	URL       string             `json:"url"`
	Status    int                `json:"status"`
	Outcome   transcript.Outcome `json:"outcome"` // as the transport saw it
	Error     *transcript.Error  `json:"error,omitempty"`
	Lossy     bool               `json:"lossy,omitempty"`
	FirstByte time.Duration      `json:"first_byte_ns"`
	Chunks    [][2]int64         `json:"chunks,omitempty"` // offset, µs
	Request   archiveBody        `json:"request"`
	Response  archiveBody        `json:"response"`
	Link      archiveLink        `json:"link"`
}

type archiveBody struct {
	Headers map[string][]string `json:"headers,omitempty"`
	Bytes   int64               `json:"bytes"`
	SHA256  string              `json:"sha256,omitempty"`
	Omitted string              `json:"omitted,omitempty"`
	// The body is a list of segments. A number of them at the beginning and at the
	// end are those of an earlier body on the same side, so many exchanges back; only
	// the others are listed.
	Like  int   `json:"like,omitempty"`
	First int   `json:"first,omitempty"`
	Parts []int `json:"parts,omitempty"`
	Last  int   `json:"last,omitempty"`
}

type archiveLink struct {
	Parent  string `json:"parent,omitempty"`
	By      string `json:"by,omitempty"`
	Agent   int    `json:"agent,omitempty"` // numbered in the archive, from 1
	Run     int    `json:"run,omitempty"`   // numbered in the archive, from 1
	Step    int    `json:"step,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Side    bool   `json:"side,omitempty"`
}

type archiveMarks struct {
	Exchange string   `json:"exchange"` // the first of its run
	Name     string   `json:"name,omitempty"`
	Note     string   `json:"note,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Pinned   bool     `json:"pinned,omitempty"`
}

type archiveOverride struct {
	Exchange string          `json:"exchange"`
	Verb     transcript.Verb `json:"verb"`
	To       string          `json:"to,omitempty"`     // an exchange
	ToRun    string          `json:"to_run,omitempty"` // the run of that exchange
	At       time.Time       `json:"at"`
}

type archiveTake struct {
	ID        string    `json:"id"`
	Origin    string    `json:"origin"`
	Exchange  string    `json:"exchange"` // its last one
	Edits     string    `json:"edits"`
	CreatedAt time.Time `json:"created_at"`

	Parent     string                  `json:"parent,omitempty"`
	Mode       transcript.TakeMode     `json:"mode,omitempty"`
	Reason     string                  `json:"reason,omitempty"`
	Group      string                  `json:"group,omitempty"`
	Arm        string                  `json:"arm,omitempty"`
	EndedAt    time.Time               `json:"ended_at,omitzero"`
	Outcome    transcript.Outcome      `json:"outcome,omitempty"`
	StopReason transcript.StopReason   `json:"stop_reason,omitempty"`
	Steps      []transcript.TakeStep   `json:"steps,omitempty"`
	Results    []transcript.TakeResult `json:"results,omitempty"`
}

// newArchiveTake returns a take with those of its steps that are in the archive.
func newArchiveTake(t *transcript.Take, steps []transcript.TakeStep) *archiveTake {
	a := &archiveTake{ID: t.ID, Origin: t.Origin, Exchange: steps[len(steps)-1].Exchange, Edits: t.Edits, CreatedAt: t.CreatedAt.UTC(), Parent: t.Parent, Mode: t.Mode, Reason: t.Reason,
		Group: t.Group, Arm: t.Arm, Outcome: t.Outcome, StopReason: t.StopReason, Steps: steps, Results: t.Results}
	if !t.EndedAt.IsZero() {
		a.EndedAt = t.EndedAt.UTC()
	}
	return a
}

// take returns the take. Older archives hold takes of one step.
func (a *archiveTake) take() *transcript.Take {
	t := &transcript.Take{ID: a.ID, Origin: a.Origin, Parent: a.Parent, Mode: a.Mode, Edits: a.Edits, Reason: a.Reason, Group: a.Group, Arm: a.Arm,
		CreatedAt: a.CreatedAt, EndedAt: a.EndedAt, Outcome: a.Outcome, StopReason: a.StopReason, Steps: a.Steps, Results: a.Results}
	if len(t.Steps) == 0 {
		t.Steps = []transcript.TakeStep{{Exchange: a.Exchange, Step: 1, Attempt: 1}}
		t.Mode, t.Outcome, t.StopReason = transcript.Once, transcript.OK, transcript.StopOnce
	}
	return t
}

// recipes is how many bodies back a recipe may refer. Readers and writers hold no
// more.
const recipes = 64

// recipeRing holds the latest recipes of one side.
type recipeRing struct{ list [][]int }

// back returns the recipe of so many bodies ago.
func (r *recipeRing) back(n int) []int {
	if n < 1 || n > len(r.list) {
		return nil
	}
	return r.list[len(r.list)-n]
}

func (r *recipeRing) put(recipe []int) {
	r.list = append(r.list, recipe)
	if len(r.list) > recipes {
		r.list = r.list[1:]
	}
}

// tell writes a recipe as its difference from the earlier one that has most in common
// with it.
func (r *recipeRing) tell(recipe []int, b *archiveBody) {
	best := 0
	for n := 1; n <= len(r.list); n++ {
		other := r.back(n)
		first := 0
		for first < len(recipe) && first < len(other) && recipe[first] == other[first] {
			first++
		}
		last := 0
		for last < len(recipe)-first && last < len(other)-first && recipe[len(recipe)-1-last] == other[len(other)-1-last] {
			last++
		}
		if first+last > best {
			best, b.Like, b.First, b.Last = first+last, n, first, last
		}
		if best == len(recipe) {
			break
		}
	}
	b.Parts = recipe[b.First : len(recipe)-b.Last]
	r.put(recipe)
}

// read returns the recipe that was written. ok is false if it is invalid: known is
// how many segments there are.
func (r *recipeRing) read(b *archiveBody, known int) (recipe []int, ok bool) {
	other := r.back(b.Like)
	if b.First < 0 || b.Last < 0 || b.First+b.Last > len(other) {
		r.put(nil)
		return nil, false
	}
	recipe = append(recipe, other[:b.First]...)
	recipe = append(recipe, b.Parts...)
	recipe = append(recipe, other[len(other)-b.Last:]...)
	for _, n := range b.Parts {
		ok = n >= 0 && n < known
		if !ok {
			r.put(nil)
			return nil, false
		}
	}
	r.put(recipe)
	return recipe, true
}

func newSegment(piece []byte) *archiveSegment {
	if utf8.Valid(piece) {
		return &archiveSegment{Text: string(piece)}
	}
	return &archiveSegment{Base64: base64.StdEncoding.EncodeToString(piece)}
}

func (s *archiveSegment) bytes() ([]byte, error) {
	if s.Base64 == "" {
		return []byte(s.Text), nil
	}
	return base64.StdEncoding.DecodeString(s.Base64)
}
