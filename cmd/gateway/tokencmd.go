package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/auth"
)

func (a *app) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "token", Short: "Make, list and revoke named tokens",
		Long: `Keeps the file of named tokens (the key auth.tokens, or --file), which holds
their digests and what each may do. Several may be valid at once, so that one
can be replaced without a gap: make a new one, hand it out, revoke the old one.
A running gateway takes a changed file in force within seconds.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.Help(); err != nil {
				return failed(err)
			}
			return &exitError{status: exitUsage}
		},
	}
	cmd.AddCommand(a.tokenNewCommand(), a.tokenListCommand(), a.tokenRevokeCommand())
	return cmd
}

// tokenFile is where a command finds the file of named tokens.
type tokenFile struct {
	settings settings
	file     string
}

func (f *tokenFile) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "file", "", "the tokens `FILE` (default: the key auth.tokens)")
	f.settings.addTo(cmd, "auth.tokens")
}

func (f *tokenFile) path(a *app) (string, error) {
	if f.file != "" {
		if filepath.IsAbs(f.file) {
			return f.file, nil
		}
		return filepath.Join(a.dir, f.file), nil
	}
	loaded, err := f.settings.load(a)
	if err != nil {
		return "", err
	}
	if loaded.Auth.Tokens == "" {
		return "", misused(errors.New("no tokens file is named: use --file FILE, or set the key auth.tokens (SLUICE_AUTH_TOKENS)"))
	}
	return loaded.Auth.Tokens, nil
}

// tokenWishes are the flags of token new, as they were given.
type tokenWishes struct {
	scopes                           []string
	profile, notBefore, expiry, rate string
	concurrency                      int
}

func (a *app) tokenNewCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "new NAME", Short: "Make a token and add it to the file", Args: cobra.ExactArgs(1),
		Long: `Makes a token of 260 random bits, adds its digest to the tokens file (which is
made, with mode 0600, when it is not there), and prints the token. It is shown
this once and kept nowhere. It begins with sluice_, so that scanners for leaked
secrets can know it.`,
		Example: `  gateway token new worker --scopes solve --rate 60/m --concurrency 4
  gateway token new agents --scopes tools,sessions --expires 90d --file tokens.yaml`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	where, wishes, output := &tokenFile{}, &tokenWishes{}, outputOn(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&wishes.scopes, "scopes", []string{"solve"}, "what it may do: `LIST` of "+strings.Join(auth.Scopes(), ", "))
	flags.StringVar(&wishes.profile, "profile", "", "judge its programs by this `PROFILE` of the policy on every route")
	flags.StringVar(&wishes.rate, "rate", "", "requests a second, minute or hour: `N/s`, N/m or N/h (N alone: a second); more is 429")
	flags.IntVar(&wishes.concurrency, "concurrency", 0, "submissions at once, `N`; more is 429 (0 = not limited)")
	flags.StringVar(&wishes.expiry, "expires", "", "`WHEN` it ends: 90d, 12h, 2026-12-31 or a time of RFC 3339")
	flags.StringVar(&wishes.notBefore, "not-before", "", "`WHEN` it begins, in the forms of --expires")
	where.addTo(cmd)
	must(cmd.RegisterFlagCompletionFunc("scopes", cobra.FixedCompletions(auth.Scopes(), cobra.ShellCompDirectiveNoFileComp)))
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		t, err := wishes.token(args[0], time.Now())
		if err != nil {
			return misused(err)
		}
		path, err := where.path(a)
		if err != nil {
			return err
		}
		secret := auth.Mint()
		t.SHA256 = auth.DigestOf(secret)
		if err := auth.Add(path, t); err != nil {
			return failed(err)
		}
		return a.showNew(t, secret, path, output.value)
	}
	return cmd
}

func (w *tokenWishes) token(name string, now time.Time) (t auth.Token, err error) {
	t = auth.Token{Name: name, Scopes: w.scopes, Profile: w.profile, Concurrency: w.concurrency}
	if err := auth.NameFault(name); err != nil {
		return t, fmt.Errorf("the name %w", err)
	}
	if err := auth.ScopesFault(w.scopes); err != nil {
		return t, fmt.Errorf("--scopes %w", err)
	}
	if w.concurrency < 0 {
		return t, errors.New("--concurrency must not be negative")
	}
	if w.rate != "" {
		if t.Rate, t.Burst, err = auth.ParseRate(w.rate); err != nil {
			return t, fmt.Errorf("--rate: %w", err)
		}
	}
	if t.NotBefore, err = moment(w.notBefore, now); err != nil {
		return t, fmt.Errorf("--not-before: %w", err)
	}
	if t.Expires, err = moment(w.expiry, now); err != nil {
		return t, fmt.Errorf("--expires: %w", err)
	}
	if !t.Expires.IsZero() && !t.Expires.After(now) {
		return t, errors.New("--expires: that is over")
	}
	return t, nil
}

// moment reads a time, or how long from now it is; the zero time for no text.
func moment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, err := strconv.ParseUint(strings.TrimSuffix(text, "d"), 10, 16); err == nil && strings.HasSuffix(text, "d") {
		return now.AddDate(0, 0, int(days)).UTC().Truncate(time.Second), nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d).UTC().Truncate(time.Second), nil
	}
	t, err := auth.ParseTime(text)
	if err != nil {
		return t, fmt.Errorf("%w, or how long from now: \"90d\" or \"12h\"", err)
	}
	return t, nil
}

// tokenView is a token as machines are told of it.
type tokenView struct {
	Name        string     `json:"name"`
	Token       string     `json:"token,omitempty"` // when it is made
	State       string     `json:"state"`           // valid, not yet, expired
	SHA256      string     `json:"sha256"`
	Scopes      []string   `json:"scopes"`
	Profile     string     `json:"profile,omitempty"`
	NotBefore   *time.Time `json:"not_before,omitempty"`
	Expires     *time.Time `json:"expires,omitempty"`
	Rate        string     `json:"rate,omitempty"`
	Burst       int        `json:"burst,omitempty"`
	Concurrency int        `json:"concurrency,omitempty"`
	File        string     `json:"file,omitempty"`
}

func viewOf(t auth.Token, now time.Time) tokenView {
	v := tokenView{
		Name: t.Name, State: "valid", SHA256: hex.EncodeToString(t.SHA256[:]), Scopes: t.Scopes, Profile: t.Profile,
		Burst: t.Burst, Concurrency: t.Concurrency,
	}
	if t.Rate > 0 {
		v.Rate = auth.FormatRate(t.Rate)
	}
	if !t.NotBefore.IsZero() {
		v.NotBefore = &t.NotBefore
	}
	if !t.Expires.IsZero() {
		v.Expires = &t.Expires
	}
	switch {
	case now.Before(t.NotBefore):
		v.State = "not yet"
	case v.Expires != nil && !now.Before(t.Expires):
		v.State = "expired"
	}
	return v
}

func (a *app) showNew(t auth.Token, secret, path, form string) error {
	if form == "json" {
		v := viewOf(t, time.Now())
		v.Token, v.File = secret, path
		return writeJSON(a.stdout, v)
	}
	fmt.Fprintf(a.stderr, "token %q may %s; its digest is in %s. It is shown this once:\n", t.Name, strings.Join(t.Scopes, ", "), path)
	_, err := fmt.Fprintln(a.stdout, secret)
	return written(err)
}

func (a *app) tokenListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the tokens of the file", Args: cobra.NoArgs,
		Long: "Lists the tokens of the file, and what each may do. The tokens themselves are not known to it."}
	where, output := &tokenFile{}, outputOn(cmd)
	where.addTo(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		path, err := where.path(a)
		if err != nil {
			return err
		}
		tokens, err := auth.ReadFile(path)
		if err != nil {
			return failed(err)
		}
		views := []tokenView{}
		for _, t := range tokens {
			views = append(views, viewOf(t, time.Now()))
		}
		if output.value == "json" {
			return writeJSON(a.stdout, map[string]any{"file": path, "tokens": views})
		}
		return written(tokenTable(a.stdout, views))
	}
	return cmd
}

func tokenTable(w io.Writer, views []tokenView) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSTATE\tSCOPES\tPROFILE\tRATE\tCONCURRENCY\tEXPIRES\tSHA256")
	for _, v := range views {
		expires, concurrency := "-", "-"
		if v.Expires != nil {
			expires = v.Expires.Format(time.RFC3339)
		}
		if v.Concurrency > 0 {
			concurrency = strconv.Itoa(v.Concurrency)
		}
		fmt.Fprintln(table, strings.Join([]string{
			v.Name, v.State, strings.Join(v.Scopes, ","), orText(v.Profile, "-"), orText(v.Rate, "-"), concurrency, expires, v.SHA256[:12],
		}, "\t"))
	}
	return table.Flush()
}

func (a *app) tokenRevokeCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "revoke NAME", Short: "Take a token out of the file", Args: cobra.ExactArgs(1),
		Long: "Takes a token out of the file. A running gateway refuses it within seconds; what runs for it is finished."}
	where, output := &tokenFile{}, outputOn(cmd)
	where.addTo(cmd)
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return where.names(a), cobra.ShellCompDirectiveNoFileComp
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, err := where.path(a)
		if err != nil {
			return err
		}
		err = auth.Revoke(path, args[0])
		if errors.Is(err, auth.ErrNoSuchToken) {
			return failed(fmt.Errorf("%w: %q is not in %s; there are: %s", err, args[0], path, orText(strings.Join(where.names(a), ", "), "none")))
		}
		if err != nil {
			return failed(err)
		}
		if output.value == "json" {
			return writeJSON(a.stdout, map[string]any{"revoked": args[0], "file": path})
		}
		_, err = fmt.Fprintf(a.stdout, "token %q is revoked in %s\n", args[0], path)
		return written(err)
	}
	return cmd
}

// names are the tokens of the file; none when it cannot be read.
func (f *tokenFile) names(a *app) []string {
	path, err := f.path(a)
	if err != nil {
		return nil
	}
	tokens, err := auth.ReadFile(path)
	if err != nil {
		return nil
	}
	var names []string
	for _, t := range tokens {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}
