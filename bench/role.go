package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

// rolePrefix begins the first argument of a process that plays a role.
const rolePrefix = "role:"

// Roles are processes of this program. Each serves on a port of its own on
// loopback, says so in one line (announcement), and ends when its standard
// input does, so that none outlives the one that started it.
const (
	roleModel        = "model"
	roleReverseProxy = "reverseproxy" // arguments: URL of the model
	roleProfiled     = "profiled"     // arguments: URL of the model, folder, file for the CPU profile, for the heap profile
	roleLoad         = "load"
)

const announcement = "listening on "

var errArguments = errors.New("wrong arguments for this role")

func play(role string, args []string) error {
	switch {
	case role == roleModel && len(args) == 0:
		return serve(handle(newModel()))
	case role == roleReverseProxy && len(args) == 1:
		h, err := newReverseProxy(args[0])
		if err != nil {
			return err
		}
		return serve(handle(h))
	case role == roleProfiled && len(args) == 4:
		return serveProfiled(args[0], args[1], args[2], args[3])
	case role == roleLoad && len(args) == 0:
		return generate(os.Stdin, os.Stdout)
	}
	return errArguments
}

func handle(h http.Handler) func(net.Listener) error {
	return func(l net.Listener) error { return http.Serve(l, h) }
}

// serve serves until standard input ends.
func serve(on func(net.Listener) error) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- on(l) }()
	fmt.Println(announcement + l.Addr().String())
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	select {
	case err := <-failed:
		return err
	case <-ended:
		return nil
	}
}
