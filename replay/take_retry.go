package replay

import (
	"net/http"
	"strconv"
	"time"
)

// Pause is how long to wait before a request is sent again.
type Pause = time.Duration

const (
	firstPause = time.Second
	mostPause  = time.Minute
)

// pauseOf returns how long a server wants to be left alone that refused a request for
// now, by its Retry-After or else twice as long as before; less than 0 if it has
// answered, or refused for good.
func pauseOf(resp *Response, attempt int) Pause {
	switch resp.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, statusOverloaded:
	default:
		return -1
	}
	if s := resp.Header.Get("Retry-After"); s != "" {
		if seconds, err := strconv.ParseFloat(s, 64); err == nil && seconds >= 0 && seconds < mostPause.Seconds() {
			return time.Duration(seconds * float64(time.Second))
		}
		if at, err := http.ParseTime(s); err == nil {
			if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil { // by the server's own clock
				return min(max(at.Sub(date), 0), mostPause)
			}
		}
		return mostPause
	}
	return min(firstPause<<min(attempt-1, 10), mostPause)
}

// statusOverloaded is Anthropic's.
const statusOverloaded = 529
