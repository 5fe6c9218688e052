package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/auth"
	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/front/admin/plugins"
)

// operator is the gateway that runs, at its admin listener.
type operator struct {
	settings settings
	base     string
	token    string
}

func (r *operator) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.base, "admin", "", "`URL` of the gateway's admin listener (default: admin.listen of the configuration)")
	r.settings.addTo(cmd)
}

// find settles where the gateway is asked. On this machine it wants no token.
func (r *operator) find(a *app) error {
	loaded, err := r.settings.load(a)
	if err != nil {
		return err
	}
	if r.base == "" {
		if loaded.Admin.Listen == "" {
			return misused(errors.New("admin.listen is empty: the gateway has no admin listener; name one with --admin URL"))
		}
		r.base = "http://" + loaded.Admin.Listen
	}
	where, err := url.Parse(r.base)
	if err != nil || where.Scheme == "" || where.Host == "" {
		return misused(fmt.Errorf("--admin %q is no URL like http://127.0.0.1:7861", r.base))
	}
	return r.reach(a, where, loaded)
}

func (r *operator) reach(a *app, where *url.URL, loaded *config.Loaded) error {
	ip := net.ParseIP(where.Hostname())
	if ip != nil && ip.IsUnspecified() { // it listens everywhere: here too
		where.Host = net.JoinHostPort("127.0.0.1", where.Port())
	}
	r.base = strings.TrimSuffix(where.String(), "/")
	if where.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	token, err := auth.LoadToken(a.getenv, loaded.Auth.TokenFile)
	if err != nil {
		return misused(fmt.Errorf("the admin listener is not on this machine alone and wants a token: %w", err))
	}
	r.token = token
	return nil
}

// mostAnswer bounds what is read of an answer, in bytes.
const mostAnswer = 16 << 20

// call asks, and gives what was answered with 200.
func (r *operator) call(ctx context.Context, method, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, http.NoBody)
	if err != nil {
		return nil, misused(err)
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, failed(fmt.Errorf("ask the gateway at %s: %w; does it run, with that admin.listen?", r.base, err))
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	if err != nil {
		return nil, failed(fmt.Errorf("read the gateway's answer: %w", err))
	}
	if res.StatusCode != http.StatusOK {
		var problem struct {
			Detail string `json:"detail"`
		}
		_ = json.Unmarshal(body, &problem) // without a detail the status has to do
		return nil, failed(errors.New(cmp.Or(problem.Detail, res.Status)))
	}
	return body, nil
}

func (r *operator) read(ctx context.Context, path string, into any) error {
	body, err := r.call(ctx, http.MethodGet, path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return failed(fmt.Errorf("read the gateway's answer: %w", err))
	}
	return nil
}

func pluginPath(name, verb string) string {
	path := "/admin/plugins/" + url.PathEscape(name)
	if verb != "" {
		path += "/" + verb
	}
	return path
}

func (a *app) pluginListCommand() *cobra.Command {
	r := &operator{}
	cmd := &cobra.Command{Use: "list", Short: "Show the plugins of a running gateway", Args: cobra.NoArgs}
	output := outputOn(cmd)
	r.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var list plugins.Listing
		if err := r.find(a); err != nil {
			return err
		}
		if err := r.read(cmd.Context(), "/admin/plugins", &list); err != nil {
			return err
		}
		if output.value == "json" {
			return writeJSON(a.stdout, list)
		}
		return written(showPlugins(a.stdout, list.Plugins))
	}
	return cmd
}

func showPlugins(w io.Writer, list []plugins.Process) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tVERSION\tSTATE\tPID\tFOR\tRESTARTS\tINFLIGHT\tWHY")
	for _, p := range list {
		name := p.Name
		if p.Instance > 0 {
			name = fmt.Sprintf("%s[%d]", name, p.Instance)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%d\t%d\t%s\n", name, cmp.Or(p.Version, "-"), p.State, p.PID,
			time.Since(p.Since).Round(time.Second), p.Restarts, p.Inflight, shown([]byte(cmp.Or(p.Why, "-"))))
	}
	return t.Flush()
}

func (a *app) pluginInfoCommand() *cobra.Command {
	r := &operator{}
	cmd := &cobra.Command{
		Use: "info NAME", Short: "Show what a plugin is, and how its last process ended", Args: cobra.ExactArgs(1),
		Long: "Shows what a plugin says of itself, the libraries that programs can import, the walls\naround it, and how its last failed process ended, with its last words. These may hold\nparts of programs.",
	}
	output := outputOn(cmd)
	r.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var info plugins.Info
		if err := r.find(a); err != nil {
			return err
		}
		if err := r.read(cmd.Context(), pluginPath(args[0], ""), &info); err != nil {
			return err
		}
		if output.value == "json" {
			return writeJSON(a.stdout, info)
		}
		return written(showInfo(a.stdout, info))
	}
	return cmd
}

func showInfo(w io.Writer, info plugins.Info) error {
	if err := showPlugins(w, info.Processes); err != nil {
		return err
	}
	if d := info.Description; d != nil {
		fmt.Fprintf(w, "\ndescription  sha256 %s\n", d.SHA256)
		for _, l := range d.Languages {
			fmt.Fprintf(w, "language     %s %s, trees %s\n", l.ID, l.Version, l.TreeSchema)
		}
		for _, t := range d.Tools {
			fmt.Fprintf(w, "tool         %s %s\n", t.Name, strings.Join(t.Aliases, " "))
		}
		for _, l := range d.Libraries {
			fmt.Fprintf(w, "library      %s %s %s\n", l.Name, l.Version, strings.Join(l.Roots, " "))
		}
		fmt.Fprintf(w, "at once      %d\n", d.Capacity.MaxConcurrent)
	}
	for _, wall := range info.Walls {
		fmt.Fprintf(w, "wall         %s: %v %s\n", wall.Name, wall.InForce, wall.Why)
	}
	for _, text := range info.Warnings {
		fmt.Fprintf(w, "warning      %s\n", shown([]byte(text)))
	}
	for _, p := range info.Processes {
		if p.LastEnd != "" {
			fmt.Fprintf(w, "\nlast crash   %s: %s\n%s\n", p.EndedAt.Format(time.RFC3339), shown([]byte(p.LastEnd)), shown([]byte(p.LastWords)))
		}
	}
	return nil
}

func (a *app) pluginLogsCommand() *cobra.Command {
	r := &operator{}
	cmd := &cobra.Command{
		Use: "logs NAME", Short: "Print the last lines that a plugin's processes wrote", Args: cobra.ExactArgs(1),
		Long: "Prints the last 64 KiB that a plugin's processes wrote on their standard error: of the\none that ended last, and of the one that runs. It may hold parts of programs.",
	}
	raw := cmd.Flags().Bool("raw", false, "control characters as they are")
	r.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := r.find(a); err != nil {
			return err
		}
		text, err := r.call(cmd.Context(), http.MethodGet, pluginPath(args[0], "log"))
		if err != nil {
			return err
		}
		if !*raw {
			text = shown(text)
		}
		_, err = a.stdout.Write(text)
		return written(err)
	}
	return cmd
}

// pluginOrderCommands are the verbs that change something.
func (a *app) pluginOrderCommands() (list []*cobra.Command) {
	for verb, about := range map[string][2]string{
		"reload": {"Exchange a plugin's processes while the gateway serves", `Reads the configuration of the plugin anew, starts a new process, looks at it deep,
lets it take over, drains the one before and ends it. Nothing is dropped unless a
program runs longer than drain_timeout; sessions are lost. When the new process
does not come up, the one before serves on and the exit status is 1.`},
		"enable":  {"Start a plugin that is disabled, or new in the configuration", "Starts a plugin that is disabled, or that was added to the configuration while the\ngateway runs; the policy is loaded again for its languages."},
		"disable": {"Drain and stop a plugin until it is enabled", "Drains and stops a plugin. It stays down until it is enabled, or until the gateway is\nstarted again: plugins.NAME.enabled: false keeps it down then, too."},
		"release": {"Let a plugin out of quarantine", "Lets a plugin out of quarantine: it is started again."},
	} {
		list = append(list, a.pluginOrderCommand(verb, about[0], about[1]))
	}
	return list
}

func (a *app) pluginOrderCommand(verb, short, long string) *cobra.Command {
	r := &operator{}
	cmd := &cobra.Command{Use: verb + " NAME", Short: short, Long: long, Args: cobra.ExactArgs(1)}
	output := outputOn(cmd)
	r.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := r.find(a); err != nil {
			return err
		}
		body, err := r.call(cmd.Context(), http.MethodPost, pluginPath(args[0], verb))
		if err != nil {
			return err
		}
		done, err := doneOf(body)
		if err != nil {
			return err
		}
		if output.value == "json" {
			return writeJSON(a.stdout, done)
		}
		return written(showDone(a.stdout, done))
	}
	return cmd
}

func doneOf(body []byte) (done plugins.Done, err error) {
	if err := json.Unmarshal(body, &done); err != nil {
		return done, failed(fmt.Errorf("read the gateway's answer: %w", err))
	}
	return done, nil
}

func showDone(w io.Writer, d plugins.Done) error {
	if len(d.Swaps) == 0 {
		_, err := fmt.Fprintf(w, "%s: %s done\n", d.Name, d.Done)
		return err
	}
	for _, s := range d.Swaps {
		if s.OldPID == 0 {
			fmt.Fprintf(w, "%s[%d]: started %s, pid %d\n", d.Name, s.Instance, s.NewVersion, s.NewPID)
			continue
		}
		fmt.Fprintf(w, "%s[%d]: pid %d (%s) took over from pid %d (%s); drained: %v, cut off: %d, sessions lost: %d; %.1f s\n",
			d.Name, s.Instance, s.NewPID, s.NewVersion, s.OldPID, s.OldVersion, s.Drained, s.CutOff, s.SessionsLost, s.Took.Seconds())
	}
	return nil
}
