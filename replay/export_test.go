package replay

// Decodes counts the request bodies that were decoded.
func (y *Ready) Decodes() int64 { return y.Request.from.decodes.Load() }
