// Package web shows what is stored as pages: a list of exchanges and, for each
// of them, its transcript and its wire. The pages show the structs of package
// view, the API gives the same structs as JSON.
//
// Words used here:
//
//   - A page is a struct that a template of the same name prints. Reading works
//     without JavaScript; the script adds keys, copying and the live list.
//   - A block is one line of a transcript page: an item, or a batch of pairs.
//   - A batch is the calls that one answer made at once. A pair has two halves,
//     the call on the left and the result on the right.
//   - A section is what the blocks belong to: setup (system and tools), history
//     (sent again), new (first sent here) and answer.
//   - A value is a text that is folded when it is long and cut when it is very
//     long; the whole is one link away.
//   - The panel tells all that is known of the chosen item; without a script that is
//     a page of its own, its details.
//   - A map draws the tokens and the time of all steps in little room.
//
// Text from models, tools and files is hostile: it reaches a page only through
// html/template's escaping or through package safehtml. The content security policy allows no
// inline script or style and no other host.
//
// Who may read: the Host must be loopback or allowed, which defeats DNS
// rebinding. A request from another site is refused unless it is a plain
// top-level navigation (somebody follows a link), whose answer that site cannot
// read. With a token, a header or a login cookie is asked for besides.
package web
