package openai

import (
	"fmt"
	"path"
	"strings"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
)

// AudioFile returns why a file is not accepted: sound and film are not.
func AudioFile(part []byte) string {
	kind := ""
	if data := rawjson.String(rawjson.Get(part, "file_data")); strings.HasPrefix(data, "data:audio/") || strings.HasPrefix(data, "data:video/") {
		kind, _, _ = strings.Cut(data[len("data:"):min(len(data), 60)], ";")
	}
	switch ext := strings.ToLower(path.Ext(rawjson.String(rawjson.Get(part, "file_url")))); ext {
	case ".mp3", ".wav", ".ogg", ".flac", ".m4a", ".mp4", ".mov", ".webm":
		kind = ext
	}
	if kind == "" {
		return ""
	}
	return fmt.Sprintf("files of the kind %s are not taken: send text, an image or a document", api.Quoted(kind))
}
