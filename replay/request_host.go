package replay

import (
	"net"
	"net/url"

	"github.com/retake-debugger/retake/dialect"
)

// KeyVariable names the environment variable that holds the key for the host
// that the request goes to; "" if the host is none whose key is known, since a
// recording must not lead a key astray. A server on this machine gets the key
// of the API that it speaks.
func (r *Request) KeyVariable() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	if known := dialect.KeyVariable(u.Hostname()); known != "" || !onThisMachine(u) {
		return known
	}
	return dialect.HomeOf(r.Speaks()).KeyVar
}

// Exposed reports whether the request would carry its key over a network in
// plain text.
func (r *Request) Exposed() bool {
	u, err := url.Parse(r.URL)
	return err == nil && u.Scheme == "http" && !onThisMachine(u)
}

// Local reports whether the request goes to a server on this machine.
func (r *Request) Local() bool {
	u, err := url.Parse(r.URL)
	return err == nil && onThisMachine(u)
}

func onThisMachine(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// Host returns the host that the request goes to, with its port.
func (r *Request) Host() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return "an address that cannot be read"
	}
	return u.Host
}
