// Package mock answers requests from recordings, as the provider once did.
//
// Words used here:
//
//   - A recording is an exchange with its answer, loaded to be served.
//   - The outline of a request is what it is compared by: its members, and the
//     elements of its large arrays one by one.
//   - A mask takes out of an outline what differs from run to run: ids that clients
//     mint, dates, durations, temporary paths.
//   - A request matches a recording if the masked outlines are equal. Recordings of
//     equal requests are served in their order, each once; those that are equal
//     without masks go first.
//   - The nearest recording is the one that has the longest beginning of its
//     history in common with a request that matches none.
//   - A fault is something that goes wrong by order.
package mock
