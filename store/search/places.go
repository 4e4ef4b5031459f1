package search

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/store/varint"
	"github.com/retake-debugger/retake/transcript"
)

// The items of a text are written one after the other as
//
//	flags kind exchange segment tool same rest
//
// flags is a byte; kind is the number below; exchange and segment are differences from
// those of the item before; tool is the row in search_tool, 0 for none; the place
// begins with same bytes of the one before and goes on with rest, which is preceded by
// its length. All but flags are varints. The first exchange is the difference from that
// of the row.
const (
	flagResponse = 1
	flagError    = 2
	flagWords    = 4 // the row has only the words of the item
)

// itemKinds has the number of each kind in the file.
var itemKinds = []transcript.Kind{transcript.Other, transcript.System, transcript.MessageItem, transcript.Reasoning, transcript.ToolCall,
	transcript.ToolResult, transcript.ToolDefinition, transcript.Compaction, transcript.Failure}

var errItems = errors.New("stored places of a text are damaged")

// packedItem is an item as it is in a row.
type packedItem struct {
	transcript.SearchItem
	tool  int64
	words bool
}

func packItems(items []packedItem, exchange int64) []byte {
	var out []byte
	before := packedItem{SearchItem: transcript.SearchItem{Exchange: exchange}}
	for i := range items {
		it := &items[i]
		flags := byte(0)
		if it.Body == "response" {
			flags |= flagResponse
		}
		if it.IsError {
			flags |= flagError
		}
		if it.words {
			flags |= flagWords
		}
		same := 0
		for same < len(it.At) && same < len(before.At) && it.At[same] == before.At[same] {
			same++
		}
		out = append(out, flags)
		out = binary.AppendUvarint(out, uint64(max(0, slices.Index(itemKinds, it.Kind))))
		out = binary.AppendVarint(out, it.Exchange-before.Exchange)
		out = binary.AppendVarint(out, int64(it.Segment-before.Segment))
		out = binary.AppendUvarint(out, uint64(it.tool))
		out = binary.AppendUvarint(out, uint64(same))
		out = binary.AppendUvarint(out, uint64(len(it.At)-same))
		out = append(out, it.At[same:]...)
		before = *it
	}
	return out
}

// itemReader reads the items of a row, which may be damaged, one by one.
type itemReader struct {
	v        varint.Reader
	flags    byte
	kind     uint64
	exchange int64 // initially that of the row
	segment  int64
	tool     int64
	at       []byte // reused
}

// next reads the next item. It returns false at the end and where the row is damaged.
func (r *itemReader) next() bool {
	if len(r.v.B) == 0 {
		return false
	}
	r.flags, r.v.B = r.v.B[0], r.v.B[1:]
	r.kind = r.v.Uint(uint64(len(itemKinds) - 1))
	r.exchange += r.v.Int()
	r.segment += r.v.Int()
	r.tool = int64(r.v.Uint(1 << 40))
	same := r.v.Uint(uint64(len(r.at)))
	r.at = append(r.at[:same], r.v.Bytes()...)
	return !r.v.Bad
}

// item returns the item that was read.
func (r *itemReader) item() packedItem {
	it := packedItem{SearchItem: transcript.SearchItem{Exchange: r.exchange, Body: "request", At: string(r.at), Segment: transcript.BodyID(r.segment),
		Kind: itemKinds[r.kind], IsError: r.flags&flagError != 0}, tool: r.tool, words: r.flags&flagWords != 0}
	if r.flags&flagResponse != 0 {
		it.Body = "response"
	}
	return it
}

// unpackItems returns all items of a row.
func unpackItems(packed []byte, exchange int64) ([]packedItem, error) {
	r := itemReader{v: varint.Reader{B: packed}, exchange: exchange}
	var items []packedItem
	for r.next() {
		items = append(items, r.item())
	}
	if r.v.Bad {
		return nil, errItems
	}
	return items, nil
}

// placed returns the items of a text as its row holds them.
func (x *Index) placed(text *transcript.SearchText) ([]packedItem, error) {
	out := make([]packedItem, len(text.Items))
	for i := range text.Items {
		it := &text.Items[i]
		tool, err := x.toolID(it.Tool)
		if err != nil {
			return nil, err
		}
		out[i] = packedItem{SearchItem: *it, tool: tool, words: text.Words}
	}
	return out, nil
}

// toolID returns the row of a tool's name and adds it if it is missing.
func (x *Index) toolID(name string) (int64, error) {
	if name == "" {
		return 0, nil
	}
	var id int64
	err := x.DB.Row(context.Background(), "SELECT id FROM search_tool WHERE name = ?", []any{name}, &id)
	if errors.Is(err, sql.ErrNoRows) {
		err = x.DB.Row(context.Background(), "INSERT INTO search_tool (name) VALUES (?) RETURNING id", []any{name}, &id)
	}
	if err != nil {
		return 0, fmt.Errorf("store tool name: %w", err)
	}
	return id, nil
}
