package store

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
//	flags kind exchange piece tool same rest cell cells
//
// flags is a byte; kind is the number below; exchange and piece are how far they
// are from those of the item before; tool is the row in search_tool, 0 for none;
// the place begins with so many bytes of the one before and goes on with rest,
// which has its length before it; cell is how far the item's first cell is from
// that of the item before, cells how many cells it has. All else but flags are
// varints. The first exchange is told from that of the row.
const (
	flagResponse = 1
	flagError    = 2
	flagWords    = 4 // the text is of the item's words alone
	flagAgain    = 8 // the text is in lane 1
)

// itemKinds gives each kind its number in the file.
var itemKinds = []transcript.Kind{transcript.Other, transcript.System, transcript.MessageItem, transcript.Reasoning, transcript.ToolCall,
	transcript.ToolResult, transcript.ToolDefinition, transcript.Compaction, transcript.Failure}

var errItems = errors.New("stored places of a text are damaged")

// packedItem is an item as a row holds it.
type packedItem struct {
	transcript.SearchItem
	tool        int64
	words       bool
	again       bool
	cell, cells int64 // its first cell in the text, and how many it has
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
		if it.again {
			flags |= flagAgain
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
		out = binary.AppendVarint(out, it.cell-before.cell)
		out = binary.AppendUvarint(out, uint64(it.cells))
		before = *it
	}
	return out
}

// itemReader reads the items of a row one by one. It trusts nothing.
type itemReader struct {
	v        varint.Reader
	flags    byte
	kind     uint64
	exchange int64 // at first that of the row
	piece    int64
	tool     int64
	at       []byte // to be written over
	cell     int64
	cells    int64
}

// next reads the next item; false at the end and where the row is damaged.
func (r *itemReader) next() bool {
	if len(r.v.B) == 0 {
		return false
	}
	r.flags, r.v.B = r.v.B[0], r.v.B[1:]
	r.kind = r.v.Uint(uint64(len(itemKinds) - 1))
	r.exchange += r.v.Int()
	r.piece += r.v.Int()
	r.tool = int64(r.v.Uint(1 << 40))
	same := r.v.Uint(uint64(len(r.at)))
	r.at = append(r.at[:same], r.v.Bytes()...)
	r.cell += r.v.Int()
	r.cells = int64(r.v.Uint(mostSpan))
	r.v.Bad = r.v.Bad || r.cell < 0 || r.cell > mostSpan
	return !r.v.Bad
}

// item gives the item that was read.
func (r *itemReader) item() packedItem {
	it := packedItem{SearchItem: transcript.SearchItem{Exchange: r.exchange, Body: "request", At: string(r.at), Segment: transcript.BodyID(r.piece),
		Kind: itemKinds[r.kind], IsError: r.flags&flagError != 0}, tool: r.tool, words: r.flags&flagWords != 0, again: r.flags&flagAgain != 0, cell: r.cell, cells: r.cells}
	if r.flags&flagResponse != 0 {
		it.Body = "response"
	}
	return it
}

// unpackItems gives all items of a row.
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

// placed makes what a row holds of items that are put in those cells.
func (t *tx) placed(text *transcript.SearchText, lane int64, in []preparedItem) ([]packedItem, error) {
	out := make([]packedItem, len(text.Items))
	for i := range text.Items {
		it := &text.Items[i]
		tool, err := t.toolID(it.Tool)
		if err != nil {
			return nil, err
		}
		out[i] = packedItem{SearchItem: *it, tool: tool, words: text.Words, again: lane == 1, cell: in[i].cell, cells: in[i].cells}
	}
	return out, nil
}

// toolID gives the row of a tool's name, making it if need be.
func (t *tx) toolID(name string) (int64, error) {
	if name == "" {
		return 0, nil
	}
	var id int64
	err := t.st.row(context.Background(), "SELECT id FROM search_tool WHERE name = ?", []any{name}, &id)
	if errors.Is(err, sql.ErrNoRows) {
		err = t.st.row(context.Background(), "INSERT INTO search_tool (name) VALUES (?) RETURNING id", []any{name}, &id)
	}
	if err != nil {
		return 0, fmt.Errorf("store tool name: %w", err)
	}
	return id, nil
}
