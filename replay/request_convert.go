package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// ErrHeld means that a request leans on history that the provider holds, which
// another one does not have.
var ErrHeld = errors.New("the provider holds a part of the history")

// ErrPath means that a request went to a path that has no counterpart in another
// dialect, such as a deployment of Azure.
var ErrPath = errors.New("no known path for the other dialect")

// Speaks returns the API that the request is in: that of its origin unless it
// was converted.
func (r *Request) Speaks() transcript.Dialect {
	if r.converted != "" {
		return r.converted
	}
	return r.Origin.Dialect
}

// Model returns the model that the body names, "" if it names none.
func (r *Request) Model() string {
	d, err := r.decoded()
	if err != nil {
		return ""
	}
	return d.turn().Model
}

// ConvertTo makes a request of another dialect of it, for model; model "" keeps
// the one that it names. Path and headers change with it, and the place of the
// key; a request to OpenAI's own host goes to Anthropic's and the other way
// around, any other stays with its host. It returns what could not be converted.
// ErrHeld if history would be missing. Within one dialect only the model changes.
func (r *Request) ConvertTo(to transcript.Dialect, model string) ([]dialect.Loss, error) {
	body, err := r.plainBody()
	if err != nil {
		return nil, err
	}
	from := r.Speaks()
	body, losses, err := dialect.Convert(from, to, body)
	if err != nil {
		return nil, err
	}
	for _, l := range losses {
		if l.Code == dialect.HistoryMissing {
			return nil, fmt.Errorf("%w: %s", ErrHeld, l.At)
		}
	}
	if model != "" {
		name, err := json.Marshal(model)
		if err != nil {
			return nil, fmt.Errorf("write model: %w", err)
		}
		if body, err = rawjson.Apply(body, rawjson.Edit{Op: rawjson.Insert, At: "/model", Value: name}); err != nil {
			return nil, fmt.Errorf("set model: %w", err)
		}
	}
	if from != to {
		if err := r.convertURL(from, to); err != nil {
			return nil, err
		}
		r.convertHeaders(to)
		r.converted = to
		r.originals = renamed(losses, r.originals)
	}
	r.Header.Del("Content-Encoding")
	r.Body = body
	return losses, nil
}

// renamed returns the recorded names of the tools that a conversion renamed; before has
// those that an earlier one did.
func renamed(losses []dialect.Loss, before map[string]string) map[string]string {
	names := map[string]string{}
	for _, l := range losses {
		if l.Code == dialect.ToolNameRewritten {
			names[l.To] = cmp.Or(before[l.From], l.From)
		}
	}
	for now, original := range before {
		if names[now] == "" {
			names[now] = original
		}
	}
	return names
}

// plainBody returns the body with its encoding undone.
func (r *Request) plainBody() ([]byte, error) {
	encoded := r.Header.Get("Content-Encoding")
	if encoded == "" {
		return r.Body, nil
	}
	body, err := history.Plain(encoded, r.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUndecodable, err)
	}
	return body, nil
}

func (r *Request) convertURL(from, to transcript.Dialect) error {
	u, err := url.Parse(r.URL)
	if err != nil {
		return fmt.Errorf("parse recorded url: %w", err)
	}
	api := dialect.Of(to)
	prefix, ok := strings.CutSuffix(u.Path, dialect.Of(from).Path)
	if !ok || strings.Contains(prefix, "/deployments/") {
		return fmt.Errorf("%w: %s", ErrPath, u.Path)
	}
	u.Path, u.RawPath, u.RawQuery, u.Fragment = prefix+api.Path, "", "", ""
	if dialect.IsHome(u.Hostname()) {
		u.Host = dialect.HomeOf(to).Host
	}
	r.URL = u.String()
	return nil
}

// Whole puts in the history that the provider holds, from the recording. A request
// with edits has it already. ErrHeld if it was not recorded.
func (r *Request) Whole(ctx context.Context, reader transcript.Reader) error {
	if len(r.Edits) > 0 {
		return nil
	}
	from := r.from
	if from == nil || from.exchange != r.Origin {
		var err error
		if from, err = readOriginal(ctx, reader, r.Origin); err != nil {
			return err
		}
	}
	whole, err := from.whole(ctx, reader)
	if err != nil || !from.held {
		return err
	}
	r.Body, r.Recorded, r.Held = whole.body, whole.body, true
	r.read, r.recorded, r.sent = whole, whole, whole.body
	r.Header.Del("Content-Encoding")
	return nil
}

// SendToProvider sends the request to a provider: base is where its API begins, with
// its version if it has a path at all. The key goes where that provider wants it.
// ErrPath if it is no request for an answer.
func (r *Request) SendToProvider(base *url.URL) error {
	api := dialect.Of(r.Speaks())
	if api.Path == "" {
		return fmt.Errorf("%w: %s", ErrPath, r.URL)
	}
	u := *base
	if u.Path = strings.TrimSuffix(u.Path, "/"); u.Path == "" {
		u.Path = "/v1"
	}
	u.Path, u.RawPath = u.Path+api.Path, ""
	r.URL, r.read = u.String(), nil // a path may name the model
	for _, name := range keyHeaders {
		r.Header.Del(name)
	}
	r.key = keyPlace{}
	if !onThisMachine(&u) {
		r.key = placeOf(api)
	}
	return nil
}

// placeOf returns where an API has its key.
func placeOf(a *dialect.API) keyPlace { return keyPlace{header: a.Key.Header, scheme: a.Key.Scheme} }

// convertHeaders drops what only the other provider or its SDK understands.
func (r *Request) convertHeaders(to transcript.Dialect) {
	for name := range r.Header {
		own := slices.Contains(keyHeaders, name)
		for _, prefix := range [...]string{"Anthropic-", "Openai-", "X-Stainless-"} {
			own = own || strings.HasPrefix(name, prefix)
		}
		if own {
			r.Header.Del(name)
		}
	}
	r.Header.Set("Content-Type", "application/json")
	keyed := r.NeedsKey()
	r.key = keyPlace{}
	api := dialect.Of(to)
	for name, value := range api.Headers {
		r.Header.Set(name, value)
	}
	if keyed {
		r.key = placeOf(api)
	}
}
