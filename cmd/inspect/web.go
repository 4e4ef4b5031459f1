package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/cmd/internal/workspace"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

func newWeb(a *app) *cobra.Command {
	var listen, token string
	var hosts []string
	c := &cobra.Command{
		Use:   "web",
		Short: "Serve the viewer for this database",
		Example: `  inspect web
  inspect --db run.db web --listen 127.0.0.1:0`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := workspace.CheckListen(listen, token); err != nil {
				return usageError{err}
			}
			db, update, err := a.openForWeb()
			if err != nil {
				return err
			}
			defer db.Close()
			prices, err := a.prices()
			if err != nil {
				return err
			}
			log := workspace.Logger(a.err, "text")
			l, err := workspace.Listen(listen)
			if err != nil {
				return fmt.Errorf("%w; --listen takes another address", err)
			}
			server := &http.Server{
				Handler:           web.New(web.Options{Reader: db, Update: update, Prices: prices, InFlight: a.capturesUnderWay, AllowHosts: hosts, Token: token, Log: log, Now: time.Now}),
				ReadHeaderTimeout: 10 * time.Second,
			}
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
	c.Flags().StringArrayVar(&hosts, "allow-host", nil, "accept this Host header too (repeatable)")
	return c
}

// openForWeb opens the database so that marks can be set; one that cannot be
// written is only shown.
func (a *app) openForWeb() (*store.DB, func(context.Context, func(transcript.Tx) error) error, error) {
	db, err := a.openToWrite()
	if err == nil {
		return db, db.Update, nil
	}
	db, readErr := a.open()
	if readErr != nil {
		return nil, nil, readErr
	}
	fmt.Fprintf(a.err, "inspect: names, tags and notes cannot be changed: %s\n", visible(err.Error()))
	return db, nil, nil
}
