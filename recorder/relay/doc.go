// Package relay relays requests to upstreams and their answers back, and records
// both in a spool on the way.
//
// An exchange is one request and its answer. Its way is cut into steps, each a
// method that returns the next one. The server's own goroutine runs them, since
// another goroutine would cost as much as all steps together: its stack would grow
// anew for each exchange.
//
//	begin ── no body ──────────────────────────────┐
//	  ├───── small body: collect ── all arrived ───┤
//	  │                    └─ late: sendPart ──────┤  (a bodyCopier has the rest)
//	  └───── other body: bodyCopier ───────────────┤
//	                                               ▼
//	                                             send ──── no answer: fail ──┐
//	                 plain HTTP/1.1: sendPlain, receivePlain                 │
//	                 else:           http.Transport                          │
//	                                               ▼                         │
//	                                            gotHead                      │
//	   bytes of the body are there: readFirst ─────┤                         │
//	     └─ late: deliverHeadAlone                 ▼                         │
//	                                          deliverHead                    │
//	                                               ▼                         │
//	                                  ┌────────► read                        │
//	                                  │            ▼                         │
//	                                  └──────── deliver                      │
//	                                               │ the answer ended        │
//	        the client is gone: clientGone ───────►▼◄────────────────────────┘
//	                                             close
//	                                               ▼
//	                                             finish
//
// Between two steps save writes the frames that the first one made, so that bytes
// are in the spool before anyone receives them. Two kinds of calls may block a step
// that must not hold up the exchange: a write to a stalled disk, and a read that
// only waits for more to send at once (collect, readFirst, sendPlain). They happen
// inside the region of a watch. When a region lasts too long, the watchdog starts a
// fresh goroutine with takeOver, which goes on with the step after the blocked one.
// The blocked goroutine, once it returns, finds that it was replaced and stops, or
// goes on with the body that it was reading. After a stalled write the exchange
// passes unharmed and the rest of it is not recorded. If the server's goroutine is
// still stuck when the answer is complete, hijackEnd takes the connection from the
// server and writes the end of the answer.
//
// Three more goroutines may belong to an exchange: a bodyCopier reads a request body
// that is not small from the client and hands it to the transport; sendPlain has the
// request written by another goroutine where a bodyCopier feeds it; an AsyncWriter
// makes each write of a recording whose goroutine cannot be replaced (a tunnel, and
// the middleware and the transport of package recorder).
//
// A buffer has one owner. It returns to the bufferPool only if no goroutine can still
// use it: a stuck write and the transport may keep theirs.
package relay
