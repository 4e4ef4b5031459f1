package view

import (
	"bytes"
	"io"
)

type bodyOf []byte

func (b bodyOf) Size() int64                  { return int64(len(b)) }
func (b bodyOf) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
