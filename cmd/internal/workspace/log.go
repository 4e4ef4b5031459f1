package workspace

import (
	"io"
	"log/slog"
)

// Logger writes to w as text, or as JSON if format is "json".
func Logger(w io.Writer, format string) *slog.Logger {
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}
