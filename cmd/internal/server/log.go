package server

import (
	"io"
	"log/slog"
)

// Log returns a logger that writes to w as text, or as JSON if format is "json".
func Log(w io.Writer, format string) *slog.Logger {
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}
