package store

import (
	"encoding/binary"

	"github.com/retake-debugger/retake/transcript"
)

// packSettings returns two numbers of 8 bytes and the sketch, NULL for none.
func packSettings(s *transcript.Settings) any {
	if *s == (transcript.Settings{}) {
		return nil
	}
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, 32), s.System)
	return append(binary.LittleEndian.AppendUint64(b, s.Tools), s.Sketch[:]...)
}

func unpackSettings(s *transcript.Settings, b []byte) {
	if len(b) == 32 {
		s.System, s.Tools = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		copy(s.Sketch[:], b[16:])
	}
}
