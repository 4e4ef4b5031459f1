// Package pricing says what tokens cost.
//
// Words used here:
//
//   - A Price is what one model costs, in US dollars for a million tokens. Each
//     kind of token has its own, and each may be unknown.
//   - A Table finds prices: first in the user's own file, by the model's name
//     alone; then in the catalog, by who was called (catalog.go) and the model's name. Input
//     and output prices of the catalog are those of charm.land/catwalk, whose
//     zeros mean that it does not know; prices of cached tokens are in cache.go,
//     each with its source.
//   - A Cost is exact, or unknown, or a lower bound where something could not be
//     counted. What is unknown is never taken for zero.
//   - A Total adds costs up, and remembers what could not be priced.
//
// transcript.Usage has the same meaning for every provider: cached tokens are a
// part of the input, reasoning is a part of the output. No floats take part.
package pricing
