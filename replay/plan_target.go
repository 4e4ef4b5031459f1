package replay

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/transcript"
)

// ErrUpstream means that the address of a server is none.
var ErrUpstream = errors.New("not an absolute URL")

// Target is one place that a request goes to. Empty members leave it as it was.
type Target struct {
	Model    string
	Upstream string // scheme and host of a server, or the name of a well-known provider
	To       transcript.Dialect
}

// ModelAt splits MODEL@UPSTREAM. Some models have an @ in their names.
func ModelAt(name string) (model, upstream string) {
	if at := strings.LastIndex(name, "@"); at > 0 {
		if where := name[at+1:]; provider(where) != nil || strings.Contains(where, "://") {
			return name[:at], where
		}
	}
	return name, ""
}

// provider returns where the API of a well-known provider begins, nil for none.
func provider(name string) *url.URL {
	for _, p := range recorder.Providers() {
		if p.Name == name {
			return p.URL
		}
	}
	return nil
}

// IsProvider reports whether the upstream is a well-known provider.
func (t *Target) IsProvider() bool { return provider(t.Upstream) != nil }

// Name says what a target is, for people.
func (t *Target) Name() string {
	name := t.Model
	if name == "" {
		name = "the recorded model"
	}
	if t.Upstream != "" {
		name += " at " + t.Upstream
	}
	return name
}

// Aim turns a request towards the target, and tells what could not be carried: the
// model is an edit of the request. A provider that speaks one dialect alone is spoken
// to in it. ErrUpstream if the upstream is neither a provider nor an address.
func (t *Target) Aim(ctx context.Context, r transcript.Reader, req *Request) ([]dialect.Loss, error) {
	to := t.To
	if to == "" {
		to = req.Speaks()
		switch {
		case t.Upstream == "anthropic":
			to = transcript.Messages
		case provider(t.Upstream) != nil && to == transcript.Messages:
			to = transcript.Chat
		}
	}
	var losses []dialect.Loss
	if to != req.Speaks() {
		err := req.Whole(ctx, r) // another provider holds none of the history
		if err == nil {
			losses, err = req.ConvertTo(to, "")
		}
		if err != nil {
			return nil, err
		}
	}
	switch base := provider(t.Upstream); {
	case t.Upstream == "":
	case base != nil:
		return losses, req.SendToProvider(base)
	default:
		return losses, req.SendTo(t.Upstream)
	}
	return losses, nil
}
