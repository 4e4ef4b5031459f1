// Package safehtml turns untrusted text into inert HTML: no scripts, links,
// pictures, names or styles of its own. It knows a few forms of text (JSON,
// Markdown, diffs, terminal colours) and renders them.
//
// Words used here:
//
//   - A [Form] is the format that a text is rendered as. Rendering never fails:
//     what does not fit the form is shown as plain text.
//   - A [Run] is a stretch of text; a mark stands for characters that cannot be
//     seen or that would reorder what is around them.
//   - A markup is HTML that is being written. It has a method for text, which
//     escapes, and methods for elements, which take only constants. So no part of a
//     text can become an element or an attribute.
package safehtml
