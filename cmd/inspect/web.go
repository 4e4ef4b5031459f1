package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/cmd/internal/workspace"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/tool"
	"github.com/retake-debugger/retake/web"
)

func newWeb(a *app) *cobra.Command {
	var listen, token string
	var hosts, checks []string
	var tools sourceFlags
	c := &cobra.Command{
		Use:   "web",
		Short: "Serve the viewer for this database",
		Long: `web serves the pages. Replays that a page begins get tool results from the
recording or from a model that plays the tool. No tool runs unless --tool-exec,
--tool-http or --tool-mcp names it here: then a page may choose it. So it is with
commands that judge answers: --check names them. A check of a sample is given the
final text on its standard input, one of a search for the smallest request the answer
as JSON, see inspect minimise.`,
		Example: `  inspect web
  inspect --db run.db web --listen 127.0.0.1:0`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := workspace.CheckListen(listen, token); err != nil {
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
			log := workspace.Logger(a.err, "text")
			o := web.Options{Version: workspace.Version(), Prices: prices, InFlight: a.capturesUnderWay, AllowHosts: hosts, Token: token, Log: log, Now: time.Now}
			v := &viewer{app: a, o: o, replaying: web.Replaying{Key: a.getenv, Tools: tools.forPages(), Checks: judges}}
			if err := v.open(c.Context()); err != nil {
				return err
			}
			defer v.close(context.WithoutCancel(c.Context()))
			l, err := workspace.Listen(listen)
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
	c.Flags().StringVar(&token, "token", "", "token that readers must give; needed off loopback")
	tools.addTools(c.Flags())
	c.Flags().StringArrayVar(&checks, "check", nil, "NAME=CMD: a page may look whether CMD ends with status 0 (repeatable)")
	c.Flags().StringArrayVar(&hosts, "allow-host", nil, "accept this Host header too (repeatable)")
	return c
}

// forPages gives what really runs as pages may choose it. A command may hold a secret,
// which no page and no log shows.
func (f *sourceFlags) forPages() []web.Tool {
	var list []web.Tool
	add := func(name string, open func(context.Context) (replay.Source, func(), error)) {
		list = append(list, web.Tool{Name: name, Open: open})
	}
	nothing := func() {}
	for _, s := range f.exec {
		name, command, _ := strings.Cut(s, "=")
		add("exec "+name, func(context.Context) (replay.Source, func(), error) {
			return &tool.Exec{Name: name, Command: command, Timeout: f.timeout}, nothing, nil
		})
	}
	for _, s := range f.http {
		name, target, _ := strings.Cut(s, "=")
		add("http "+name, func(context.Context) (replay.Source, func(), error) {
			return &tool.HTTP{Name: name, URL: target, Timeout: f.timeout}, nothing, nil
		})
	}
	for _, command := range f.mcp {
		add("mcp "+redact.NewScrubber(nil).Text(command), func(ctx context.Context) (replay.Source, func(), error) {
			m, err := tool.StartMCP(ctx, command)
			if err != nil {
				return nil, nil, err
			}
			m.Timeout = f.timeout
			return m, func() { _ = m.Close() }, nil // the take is over
		})
	}
	return list
}
