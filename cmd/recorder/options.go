package main

import (
	"crypto/x509"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/cmd/internal/server"
	"github.com/retake-debugger/retake/ingest/decode"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/redact"
)

// options are the flags of recorder.
type options struct {
	stderr io.Writer
	getenv func(string) string

	listen    string
	db        string
	upstreams []string
	web       string
	token     string
	hosts     []string
	origins   []string
	caFile    string
	logFormat string
	websocket string
	omit      string
	redact    bool
	rules     string
	paths     []string
	headers   []string
}

func (o *options) flags(f *pflag.FlagSet) {
	f.StringVar(&o.listen, "listen", "127.0.0.1:7777", "address of the proxy")
	f.StringVar(&o.db, "db", "", "database file (default $RETAKE_DB, else $XDG_DATA_HOME/retake/retake.db)")
	f.StringArrayVar(&o.upstreams, "upstream", nil, "[NAME=]URL of a provider (repeatable)")
	f.StringVar(&o.web, "web", "127.0.0.1:7778", "address of the viewer, or off")
	f.StringVar(&o.token, "token", "", "token that clients must send, as header X-Retake-Token or base path /_t/TOKEN; needed off loopback")
	f.StringArrayVar(&o.hosts, "allow-host", nil, "accept this Host header too (repeatable)")
	f.StringArrayVar(&o.origins, "allow-origin", nil, "accept requests from pages of this origin (repeatable)")
	f.StringVar(&o.caFile, "ca-file", "", "PEM file of more certificate authorities to trust for upstreams")
	f.StringVar(&o.websocket, "websocket", "426", "WebSockets on model paths: 426 refuses them, and clients fall back to HTTP; relay passes them through unrecorded")
	f.StringVar(&o.omit, "omit", "", "leave images or bodies out of what is stored; lengths and hashes are kept")
	f.BoolVar(&o.redact, "redact", false, "replace secrets in bodies before they are stored; the spool holds them until then (see Secrets)")
	f.StringVar(&o.rules, "redact-rules", "", "--redact with the rules in this file as well: KIND PATTERN redacts what matches, keep PATTERN keeps it, keep-emails keeps e-mail addresses")
	f.StringArrayVar(&o.paths, "exclude-path", nil, "do not record requests to these paths: a pattern, or a prefix that ends in / (repeatable)")
	f.StringArrayVar(&o.headers, "exclude-header", nil, "do not record requests with this header: NAME, or NAME: VALUE (repeatable)")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
}

// check returns an error for a flag with a wrong value.
func (o *options) check() error {
	if o.logFormat != "text" && o.logFormat != "json" {
		return usageError{fmt.Errorf("--log-format %q: want text or json", o.logFormat)}
	}
	if o.websocket != "426" && o.websocket != "relay" {
		return usageError{fmt.Errorf("--websocket %q: want 426 or relay", o.websocket)}
	}
	if o.omit != decode.OmitNothing && o.omit != decode.OmitImages && o.omit != decode.OmitBodies {
		return usageError{fmt.Errorf("--omit %q: want images or bodies", o.omit)}
	}
	if err := server.CheckAddress(o.listen, o.token); err != nil {
		return usageError{err}
	}
	if o.web != "off" {
		if err := server.CheckAddress(o.web, o.token); err != nil {
			return usageError{fmt.Errorf("viewer: %w", err)}
		}
	}
	return nil
}

// scrubber returns what replaces secrets; nil if nothing does.
func (o *options) scrubber() (*redact.Scrubber, error) {
	if !o.redact && o.rules == "" {
		return nil, nil
	}
	if o.rules == "" {
		return redact.NewScrubber(nil), nil
	}
	f, err := os.Open(o.rules)
	if err != nil {
		return nil, usageError{fmt.Errorf("read --redact-rules: %w", err)}
	}
	defer f.Close()
	own, err := redact.ReadRules(f)
	if err != nil {
		return nil, usageError{fmt.Errorf("--redact-rules %s: %w", o.rules, err)}
	}
	return redact.NewScrubber(own), nil
}

func (o *options) path() (string, error) {
	if o.db != "" {
		return o.db, nil
	}
	path, err := retake.DefaultPath(o.getenv)
	if err != nil {
		return "", fmt.Errorf("%w; name a database with --db", err)
	}
	return path, nil
}

// upstreamName matches NAME=URL. The characters of a name are limited, so that a =
// within a URL does not make one.
var upstreamName = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]*)=(.*)$`)

// parseUpstreams reads --upstream flags.
func parseUpstreams(flags []string) ([]recorder.Upstream, error) {
	var all []recorder.Upstream
	for _, f := range flags {
		up := recorder.Upstream{}
		raw := f
		if m := upstreamName.FindStringSubmatch(f); m != nil {
			up.Name, raw = m[1], m[2]
		}
		u, err := url.Parse(raw)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return nil, usageError{fmt.Errorf("--upstream %q: want [NAME=]URL with http:// or https://", f)}
		}
		if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return nil, usageError{fmt.Errorf("--upstream %q: the URL must hold no user, query or fragment", f)}
		}
		up.URL = u
		all = append(all, up)
	}
	if len(all) > 1 {
		for i, up := range all {
			if up.Name == "" {
				return nil, usageError{fmt.Errorf("--upstream %q: with several upstreams each needs a name, NAME=URL", flags[i])}
			}
		}
	}
	return all, nil
}

// rootCAs returns the system's certificate authorities with those of --ca-file; nil
// stands for the system's alone.
func (o *options) rootCAs() (*x509.CertPool, error) {
	if o.caFile == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(o.caFile)
	if err != nil {
		return nil, usageError{fmt.Errorf("read --ca-file: %w", err)}
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, usageError{fmt.Errorf("--ca-file %s holds no PEM certificate", strings.TrimSpace(o.caFile))}
	}
	return pool, nil
}
