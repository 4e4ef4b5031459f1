package workspace

// SpoolDir is where the spool of a database lies.
func SpoolDir(db string) string { return db + ".spool" }
