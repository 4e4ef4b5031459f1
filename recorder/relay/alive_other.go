//go:build !unix

package relay

import "net"

// alive cannot look without reading here.
func alive(net.Conn) bool { return true }
