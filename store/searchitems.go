package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// The items of a text are written one after the other as
//
//	flags kind piece tool same rest
//
// flags is a byte; kind is the number below; piece is how far its id is from
// that of the item before; tool is the row in search_tool, 0 for none; the place
// begins with so many bytes of the one before and goes on with rest, which has
// its length before it. All but flags are varints.
const (
	flagResponse = 1
	flagError    = 2
)

// itemKinds gives each kind its number in the file.
var itemKinds = []transcript.Kind{transcript.Other, transcript.System, transcript.MessageItem, transcript.Reasoning, transcript.ToolCall,
	transcript.ToolResult, transcript.ToolDefinition, transcript.Compaction, transcript.Failure}

var errItems = errors.New("stored places of a text are damaged")

const maxAt = 1 << 20 // bytes of a place; more is damage

func (t *tx) packItems(items []transcript.SearchItem) ([]byte, error) {
	var out []byte
	var before transcript.SearchItem
	for i := range items {
		it := &items[i]
		tool, err := t.toolID(it.Tool)
		if err != nil {
			return nil, err
		}
		flags := byte(0)
		if it.Body == "response" {
			flags |= flagResponse
		}
		if it.IsError {
			flags |= flagError
		}
		same := 0
		for same < len(it.At) && same < len(before.At) && it.At[same] == before.At[same] {
			same++
		}
		out = append(out, flags)
		out = binary.AppendUvarint(out, uint64(max(0, slices.Index(itemKinds, it.Kind))))
		out = binary.AppendVarint(out, int64(it.Piece-before.Piece))
		out = binary.AppendUvarint(out, uint64(tool))
		out = binary.AppendUvarint(out, uint64(same))
		out = binary.AppendUvarint(out, uint64(len(it.At)-same))
		out = append(out, it.At[same:]...)
		before = *it
	}
	return out, nil
}

// unpackItems gives the items, and for each the row of its tool. It trusts
// nothing.
func unpackItems(packed []byte, exchange int64) (items []transcript.SearchItem, tools []int64, err error) {
	v := varints{b: packed}
	var before transcript.SearchItem
	for len(v.b) > 0 {
		flags := v.b[0]
		v.b = v.b[1:]
		it := transcript.SearchItem{Exchange: exchange, Body: "request", IsError: flags&flagError != 0}
		if flags&flagResponse != 0 {
			it.Body = "response"
		}
		it.Kind = itemKinds[v.uint(uint64(len(itemKinds)-1))]
		it.Piece = before.Piece + transcript.BodyID(v.int())
		tool := v.uint(1 << 40)
		same, rest := int(v.uint(uint64(len(before.At)))), int(v.uint(maxAt))
		if v.bad || rest > len(v.b) {
			return nil, nil, errItems
		}
		it.At = before.At[:same] + string(v.b[:rest])
		v.b = v.b[rest:]
		items, tools, before = append(items, it), append(tools, int64(tool)), it
	}
	if v.bad {
		return nil, nil, errItems
	}
	return items, tools, nil
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
