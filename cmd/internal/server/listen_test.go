package server

import (
	"strings"
	"testing"
)

func TestCheckAddress(t *testing.T) {
	for _, c := range []struct{ address, token, want string }{
		{"127.0.0.1:0", "", ""}, {"localhost:7777", "", ""}, {"[::1]:7777", "", ""}, {"0.0.0.0:7777", "secret", ""},
		{"nonsense", "", "want HOST:PORT"}, {"127.0.0.1:x", "", "want a port"}, {"127.0.0.1:99999", "", "want a port"}, {"127.0.0.1:", "", "want a port"},
		{"0.0.0.0:7777", "", "--token"}, {":7777", "", "--token"},
	} {
		err := CheckAddress(c.address, c.token)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.address, err, c.want)
		}
	}
}

func TestListen_SaysWhatIsInTheWay(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for address, want := range map[string]string{l.Addr().String(): "something listens there already", "192.0.2.1:0": "no such address"} {
		other, err := Listen(address)
		if err == nil {
			other.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "tcp") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}
