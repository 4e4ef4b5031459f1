// Package server helps commands to listen: it checks addresses, listens, and makes logs.
package server

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// CheckAddress returns an error for an address that cannot be listened on, or that is
// off loopback without a token.
func CheckAddress(address, token string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("listen address %q: want HOST:PORT, such as 127.0.0.1:7777", address)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("listen address %q: want a port from 0 (any free one) to 65535", address)
	}
	if token != "" || host == "localhost" {
		return nil
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return nil
	}
	return errors.New("listen on " + address + ": others can reach this address; set --token")
}

// Listen listens on a TCP address. Its errors say what is in the way.
func Listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: something listens there already, perhaps another recorder", address)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("listen on %s: this user may not; ports from 1024 on need no privilege", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("listen on %s: this machine has no such address", address)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return nil, fmt.Errorf("listen on %s: %w", address, err)
}
