// Package safehtml turns text that nobody vouches for into HTML that does nothing:
// no script, no link, no picture, no name, no style of its own. It knows a few
// forms of text (JSON, Markdown, diffs, terminal colours) and shows them as what
// they are.
//
// Words used here:
//
//   - A [Form] is what a text is taken for. Showing it never fails: what does not
//     fit its form is shown as the text that it is.
//   - A [Run] is a stretch of text; a mark stands for characters that cannot be
//     seen or that would reorder what is around them.
//   - A markup is HTML that is being written. It has a method for text, which
//     escapes, and methods for elements, which take constants alone: so nothing of
//     a text can become an element or an attribute.
package safehtml
