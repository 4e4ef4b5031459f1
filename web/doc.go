// Package web shows the stored exchanges as pages: a list and, for each exchange,
// its transcript and its wire. The pages show the structs of package view; the API
// returns the same structs as JSON.
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
//   - The panel shows everything known about the chosen item. Without a script it
//     is a page of its own, the item's details.
//   - A map draws the tokens and the time of all steps in little space.
//
// Text from models, tools and files is hostile: it reaches a page only through
// html/template's escaping or through package safehtml. The content security policy allows no
// inline script or style and no other host.
//
// Who may read: the Host must be loopback or allowed, which defeats DNS rebinding.
// A request from another site is refused unless it is a plain top-level navigation
// (a user follows a link), whose answer that site cannot read. If a token is set, a
// header or a login cookie is required as well.
package web
