package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/cmd/internal/server"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

func newWeb(a *app) *cobra.Command {
	var listen, token string
	var hosts, checks []string
	var tools sourceFlags
	c := &cobra.Command{
		Use:   "web",
		Short: "Serve the viewer for this database",
		Long: `web serves the viewer. Replays that a page starts get tool results from the recording
or from a model that plays the tool. No tool runs unless --tool-exec, --tool-http or
--tool-mcp names it here: then pages may choose it. The same goes for commands that
judge answers: --check names them. A check of a sample gets the final text on its
standard input, one of a minimisation the answer as JSON (see inspect minimise).`,
		Example: `  inspect web
  inspect --db run.db web --listen 127.0.0.1:0`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := server.CheckAddress(listen, token); err != nil {
				return usageError{err}
			}
			if err := tools.check(); err != nil {
				return err
			}
			judges, err := pageChecks(checks)
			if err != nil {
				return err
			}
			prices, err := a.prices()
			if err != nil {
				return err
			}
			log := server.Log(a.err, "text")
			o := web.Options{Version: retake.Version(), Prices: prices, InFlight: a.capturesUnderWay, AllowHosts: hosts, Token: token, Log: log, Now: time.Now}
			v := &viewer{app: a, o: o, replaying: web.Replaying{Key: a.getenv, Tools: tools.forPages(), Checks: judges}}
			if err := v.open(c.Context()); err != nil {
				return err
			}
			defer v.close(context.WithoutCancel(c.Context()))
			l, err := server.Listen(listen)
			if err != nil {
				return fmt.Errorf("%w; --listen takes another address", err)
			}
			server := &http.Server{Handler: v, ReadHeaderTimeout: 10 * time.Second}
			fmt.Fprintf(a.err, "viewer: http://%s/\n", l.Addr())
			go func() {
				<-c.Context().Done()
				server.Close()
			}()
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve viewer: %w", err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:7778", "address of the viewer")
	c.Flags().StringVar(&token, "token", "", "token that readers must send; required off loopback")
	tools.addTools(c.Flags())
	c.Flags().StringArrayVar(&checks, "check", nil, "NAME=CMD: let pages check whether CMD exits with status 0 (repeatable)")
	c.Flags().StringArrayVar(&hosts, "allow-host", nil, "also accept this Host header (repeatable)")
	return c
}

// forPages returns the sources that pages may choose, by name only: a command may
// contain a secret, which no page or log shows.
func (f *sourceFlags) forPages() []replay.SourceSpec {
	list := f.tools()
	for i := range list {
		s := &list[i]
		name := s.Tool
		if s.From == transcript.FromMCP {
			name = redact.NewScrubber(nil).Text(f.mcp[i-len(f.exec)-len(f.http)])
		}
		s.Name = string(s.From) + " " + name
	}
	return list
}
