package link

import "github.com/retake-debugger/retake/transcript"

// Subject is an exchange to be linked, with what it means.
type Subject struct {
	Exchange *transcript.Exchange
	Turn     *transcript.Turn
	Label    string              // that the exchange came with
	Header   map[string][]string // of the request
	Keys     []transcript.Key    // of the input's items that are in the chain
	Nodes    []transcript.Node   // of the chain that begins with the input
	Where    []int               // the number of each input item in the chain, see ChainIndex
	Settings transcript.Settings
	Pending  []transcript.Key // pending links, see pending.go

	prompts    []transcript.Key  // texts that its calls pass on
	withoutIDs []transcript.Node // see nodesWithoutIDs
	out        *outputKeys       // see output
}

// key returns the key of an input item.
func (d *Subject) key(i int) transcript.Key {
	if n := d.Where[i]; n >= 0 {
		return d.Keys[n]
	}
	return transcript.KeyOf(&d.Turn.Input[i])
}

// ChainIndex returns for each item its number in the chain, -1 if it is not in it.
func ChainIndex(items []transcript.Item) []int {
	where := make([]int, len(items))
	n := 0
	for i := range items {
		where[i] = -1
		if items[i].InChain() {
			where[i] = n
			n++
		}
	}
	return where
}
