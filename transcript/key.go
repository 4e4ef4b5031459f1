package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"sort"
	"strings"
)

// Key identifies an item by its meaning: two items with equal keys are the
// same unit, however a client wrote it down.
type Key [16]byte

// Node identifies a history: the chain of the keys of its items.
type Node [16]byte

// IsZero tells whether the node is no history at all.
func (n Node) IsZero() bool { return n == Node{} }

// InChain tells whether an item is part of a history's chain. System text,
// tool definitions, reasoning and what the provider ran by itself are not:
// clients may change or leave them out when they send a history again. Neither
// are further choices (n > 1), nor messages that say nothing.
func (it *Item) InChain() bool {
	if it.Choice > 0 || it.ServerSide {
		return false
	}
	switch it.Kind {
	case System, ToolDefinition, Reasoning:
		return false
	case MessageItem:
		return strings.TrimSpace(it.Text) != "" || len(it.Parts) > 0
	}
	return true
}

// KeyOf hashes what an item means: kind, role, text, other parts, call id,
// name, canonical arguments and the error mark; an Other by its canonical JSON.
func KeyOf(it *Item) Key {
	h := hashed{make([]byte, 0, 128+len(it.Text)+len(it.ArgumentsRaw)+72*len(it.Parts))}
	h.field(string(it.Kind))
	if it.Kind == Other {
		h.field(HashJSON(it.Raw))
	} else {
		if it.Kind == MessageItem {
			h.field(it.Role)
		}
		h.field(it.Text)
		for _, p := range it.Parts {
			h.field(p)
		}
		h.field(it.CallID)
		if it.Kind != ToolResult { // some clients add a name to results, most do not
			h.field(it.Name)
		}
		h.field(canonicalArguments(it))
		if it.IsError {
			h.field("error")
		}
	}
	sum := sha256.Sum256(h.buf)
	return Key(sum[:16])
}

// hashed is what a key is the hash of: fields, each with its length before it.
type hashed struct{ buf []byte }

func (h *hashed) field(s string) {
	h.buf = binary.LittleEndian.AppendUint64(h.buf, uint64(len(s)))
	h.buf = append(h.buf, s...)
}

func canonicalArguments(it *Item) string {
	if it.Kind != ToolCall {
		return ""
	}
	raw := it.ArgumentsRaw
	if len(it.Arguments) > 0 {
		raw = string(it.Arguments)
	}
	if raw == "" {
		return "{}"
	}
	if c, err := Canonical([]byte(raw)); err == nil {
		return string(c)
	}
	return raw
}

// Extend gives the node of a history that goes on with key.
func (n Node) Extend(k Key) Node {
	var buf [32]byte
	copy(buf[:16], n[:])
	copy(buf[16:], k[:])
	sum := sha256.Sum256(buf[:])
	return Node(sum[:16])
}

// Keys gives the keys of the items that count in a chain (InChain).
func Keys(items []Item) []Key {
	var keys []Key
	for i := range items {
		if items[i].InChain() {
			keys = append(keys, KeyOf(&items[i]))
		}
	}
	return keys
}

// Chain gives the nodes of a history that starts at from and goes on with the
// items of these keys: one node for each.
func Chain(from Node, keys []Key) []Node {
	nodes := make([]Node, len(keys))
	for i, k := range keys {
		from = from.Extend(k)
		nodes[i] = from
	}
	return nodes
}

// HashJSON hashes a JSON value by its meaning: white space, key order and
// cache marks do not count. What is not JSON is hashed as it is.
func HashJSON(raw []byte) string {
	c, err := Canonical(raw)
	if err != nil {
		c = raw
	}
	sum := sha256.Sum256(c)
	return hex.EncodeToString(sum[:])
}

// Canonical writes a JSON value with sorted keys, without white space and
// without members named cache_control; numbers keep their text.
func Canonical(raw []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errTrailing
	}
	var out bytes.Buffer
	err := writeCanonical(&out, v)
	return out.Bytes(), err
}

func writeCanonical(out *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			if name != "cache_control" {
				names = append(names, name)
			}
		}
		sort.Strings(names)
		out.WriteByte('{')
		for i, name := range names {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeCanonical(out, name); err != nil {
				return err
			}
			out.WriteByte(':')
			if err := writeCanonical(out, v[name]); err != nil {
				return err
			}
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeCanonical(out, e); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		out.Write(b)
	}
	return nil
}
