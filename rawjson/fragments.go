package rawjson

// Fragments is a JSON string that arrives in parts. They are joined in their escaped
// form: escapes stay as they were written, and a surrogate pair that was split over
// two parts is complete again.
type Fragments struct {
	buf  []byte
	Seen bool
}

// Add appends a JSON string. Any other value is ignored.
func (j *Fragments) Add(v []byte) {
	if IsString(v) {
		j.Seen = true
		j.buf = append(j.buf, v[1:len(v)-1]...)
	}
}

// Len returns the length of the string in its escaped form.
func (j *Fragments) Len() int { return len(j.buf) }

// Bytes returns the string as JSON, null if nothing was added.
func (j *Fragments) Bytes() []byte {
	if !j.Seen {
		return []byte("null")
	}
	out := make([]byte, 0, len(j.buf)+2)
	return append(append(append(out, '"'), j.buf...), '"')
}
