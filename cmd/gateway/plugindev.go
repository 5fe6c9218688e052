package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/executor/executortest"
	"github.com/sluice-gateway/sluice/internal/config"
)

// developing is one plugin's folder, and the gateway that takes what is built
// there.
type developing struct {
	gateway operator
	app     *app
	dir     string
	name    string
	plugin  *config.Plugin
}

func (a *app) pluginDevCommand() *cobra.Command {
	d := &developing{app: a}
	once := false
	cmd := &cobra.Command{
		Use: "dev DIR", Short: "Build, verify and exchange a plugin whenever its folder changes", Args: cobra.ExactArgs(1),
		Long: `Watches a plugin's folder. At each change: 'make build' there, the quick checks of
'plugin verify', and then the gateway that runs exchanges its processes. What does
not build or does not keep the contract is told, and the process before serves on.

The plugin must stand in the configuration with trust: built, since a checksum
would be another one each time; so the public listener must be on loopback.`,
	}
	cmd.Flags().StringVar(&d.name, "name", "", "the plugin's `NAME` in the configuration (default: the folder's, without plugin-)")
	cmd.Flags().BoolVar(&once, "once", false, "one round, without watching")
	d.gateway.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d.dir = absolutePath(a.dir, args[0])
		if err := d.prepare(); err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		if once {
			return d.round(ctx)
		}
		return d.watch(ctx)
	}
	return cmd
}

// prepare refuses what must not be done on a gateway that others reach.
func (d *developing) prepare() error {
	if d.name == "" {
		d.name = strings.TrimPrefix(filepath.Base(d.dir), "plugin-")
	}
	loaded, err := d.gateway.settings.load(d.app)
	if err != nil {
		return err
	}
	if !onLoopback(loaded.Listen) {
		return misused(fmt.Errorf("listen is %s, which others can reach: an unpinned plugin is exchanged on a loopback listener alone", loaded.Listen))
	}
	d.plugin = loaded.Plugins[d.name]
	switch {
	case d.plugin == nil:
		return misused(fmt.Errorf("plugins.%s stands in no configuration: write plugins: {%s: {command: %s/bin/plugin-%s, trust: built}}", d.name, d.name, d.dir, d.name))
	case d.plugin.Trust != config.TrustBuilt:
		return misused(fmt.Errorf("plugins.%s.trust is %s: dev needs trust: built, since the checksum changes with each build", d.name, d.plugin.Trust))
	}
	return d.gateway.find(d.app)
}

func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// devPoll is how often the folder is looked at.
const devPoll = 500 * time.Millisecond

func (d *developing) watch(ctx context.Context) error {
	var before [sha256.Size]byte
	for ctx.Err() == nil {
		if now := sourcesOf(d.dir); now != before {
			before = now
			if err := d.round(ctx); err != nil && ctx.Err() == nil {
				fmt.Fprintf(d.app.stderr, "gateway: %v\n", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(devPoll):
		}
	}
	return nil
}

// sourcesOf changes when a file of the folder does, what is built there apart.
func sourcesOf(dir string) [sha256.Size]byte {
	sum := sha256.New()
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error { // what cannot be read is not there
		if err != nil {
			return nil
		}
		name := entry.Name()
		if entry.IsDir() && path != dir && (name == "bin" || strings.HasPrefix(name, ".") || name == "__pycache__") {
			return fs.SkipDir
		}
		if info, err := entry.Info(); err == nil && !entry.IsDir() {
			fmt.Fprintln(sum, path, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return [sha256.Size]byte(sum.Sum(nil))
}

// quickChecks are those that tell most in a second or two.
func quickChecks() []string {
	return []string{"H01", "H03", "D01", "D02", "D03", "S01", "S02", "S03", "S04", "S06", "S08", "S16"}
}

// round builds, verifies and exchanges once.
func (d *developing) round(ctx context.Context) error {
	build := exec.CommandContext(ctx, "make", "-s", "build")
	build.Dir, build.Stdout, build.Stderr = d.dir, d.app.stderr, d.app.stderr
	if err := build.Run(); err != nil {
		return failed(fmt.Errorf("make build in %s: %w", d.dir, err))
	}
	v := &verifying{settings: d.gateway.settings, output: &outputFlag{value: "text"}}
	program, err := v.program(d.app, append([]string{d.plugin.Command}, d.plugin.Args...))
	if err != nil {
		return misused(err)
	}
	report, err := executortest.Verify(ctx, program, executortest.Options{Only: quickChecks(), Short: true})
	if err != nil {
		return failed(err)
	}
	if !report.OK(false) {
		for _, f := range report.Findings {
			if f.Outcome == executortest.Failed {
				_ = showFinding(d.app.stderr, f, d.app.colored(d.app.stderr))
			}
		}
		return failed(errors.New("it does not keep the contract; the process before serves on"))
	}
	body, err := d.gateway.call(ctx, http.MethodPost, pluginPath(d.name, "reload"))
	if err != nil {
		return err
	}
	done, err := doneOf(body)
	if err != nil {
		return err
	}
	return written(showDone(d.app.stdout, done))
}
