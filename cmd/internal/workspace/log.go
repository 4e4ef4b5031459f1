package workspace

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
)

// Logger writes to w as text, or as JSON if format is "json".
func Logger(w io.Writer, format string) *slog.Logger {
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

// CheckListen refuses an address off loopback without a token.
func CheckListen(address, token string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("listen address %q: want HOST:PORT, such as 127.0.0.1:7777", address)
	}
	if token != "" || host == "localhost" {
		return nil
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return nil
	}
	return errors.New("listen on " + address + ": that is off loopback, so others can reach it; set --token")
}
