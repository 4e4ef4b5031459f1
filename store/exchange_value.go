package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// The types of columns that are read by a Scan of their own. What is NULL becomes
// the zero value.

type (
	idColumn       string
	hashColumn     string
	textColumn     string
	timeColumn     time.Time
	nodeColumn     transcript.Node
	settingsColumn transcript.Settings
	chunksColumn   []transcript.Chunk
	// jsonColumn holds JSON of a T.
	jsonColumn[T any] struct{ to *T }
)

// Scan reads an id.
func (c *idColumn) Scan(v any) error {
	*c = idColumn(unpackID(v))
	return nil
}

// Scan reads a SHA-256.
func (c *hashColumn) Scan(v any) error {
	*c = hashColumn(unpackHash(v))
	return nil
}

// Scan reads a text that may be NULL.
func (c *textColumn) Scan(v any) error {
	*c = textColumn(asBytes(v))
	return nil
}

// Scan reads a time.
func (c *timeColumn) Scan(v any) error {
	*c = timeColumn{}
	if n, ok := v.(int64); ok {
		*c = timeColumn(time.Unix(0, n).UTC())
	}
	return nil
}

func (c *timeColumn) pack() any { return packTime(time.Time(*c)) }

// Scan reads a node.
func (c *nodeColumn) Scan(v any) error {
	*c = nodeColumn{}
	copy(c[:], asBytes(v))
	return nil
}

// Scan reads settings.
func (c *settingsColumn) Scan(v any) error {
	*c = settingsColumn{}
	unpackSettings((*transcript.Settings)(c), asBytes(v))
	return nil
}

// Scan reads chunks.
func (c *chunksColumn) Scan(v any) error {
	list, err := unpackChunks(asBytes(v))
	*c = list
	return err
}

// Scan reads JSON.
func (c jsonColumn[T]) Scan(v any) error {
	var value T
	if b := asBytes(v); len(b) > 0 {
		if err := json.Unmarshal(b, &value); err != nil {
			return fmt.Errorf("read JSON: %w", err)
		}
	}
	*c.to = value
	return nil
}

// asBytes returns a text or a blob; nil for NULL.
func asBytes(v any) []byte {
	switch v := v.(type) {
	case []byte:
		return v
	case string:
		return []byte(v)
	}
	return nil
}
