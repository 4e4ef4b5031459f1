package replay

import (
	"context"
	"errors"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// ErrUpstream means that the address of a server is not an absolute URL.
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
		if where := name[at+1:]; dialect.ProviderNamed(where) != nil || strings.Contains(where, "://") {
			return name[:at], where
		}
	}
	return name, ""
}

// IsProvider reports whether the upstream is a well-known provider.
func (t *Target) IsProvider() bool { return dialect.ProviderNamed(t.Upstream) != nil }

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

// Aim directs a request to the target, and returns what could not be converted: the
// model is an edit of the request. A provider that speaks one dialect alone is spoken
// to in it. ErrUpstream if the upstream is neither a provider nor an address.
func (t *Target) Aim(ctx context.Context, r transcript.Reader, req *Request) ([]dialect.Loss, error) {
	provider := dialect.ProviderNamed(t.Upstream)
	to := t.To
	if to == "" {
		if to = req.Speaks(); provider != nil {
			to = provider.Speaks(to)
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
	switch {
	case t.Upstream == "":
	case provider != nil:
		return losses, req.SendToProvider(provider.Base())
	default:
		return losses, req.SendTo(t.Upstream)
	}
	return losses, nil
}
