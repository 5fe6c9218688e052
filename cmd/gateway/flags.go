package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluice-gateway/sluice/internal/config"
)

// settings are the flags that change the configuration, as they were given.
type settings struct {
	file      string
	overrides []config.Override
}

// addTo puts --config, --set and a flag for every key on a command. Help shows
// the few that are used by hand; all of them work.
func (s *settings) addTo(cmd *cobra.Command, shown ...string) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&s.file, "config", "", "configuration `FILE` (default: $SLUICE_CONFIG, else ./config.yaml if it is there)")
	flags.Var(&setFlag{to: s}, "set", "set any key: `key.path=value` (repeatable)")
	for _, key := range config.Keys() {
		flag := flags.VarPF(&keyFlag{to: s, key: key}, key.Flag(), "", fmt.Sprintf("%s (default %s)", key.Help, orEmpty(key.Default)))
		flag.Hidden = !slices.Contains(shown, key.Path)
		if key.Kind == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
	cmd.Long += `

Every key of the configuration is a flag too: limits.wall is --limits-wall,
SLUICE_LIMITS_WALL in the environment, and --set limits.wall=… (flag over
environment over file over default). 'gateway config print' lists them all.`
}

func orEmpty(text string) string {
	if text == "" {
		return `""`
	}
	return text
}

// load reads the configuration that the flags ask for.
func (s *settings) load(a *app) (*config.Loaded, error) {
	loaded, err := config.Load(config.Sources{File: s.file, Dir: a.dir, Getenv: a.getenv, Names: a.names, Flags: s.overrides})
	if err != nil {
		return nil, misused(fmt.Errorf("the configuration is wrong:\n%w", err))
	}
	return loaded, nil
}

// keyFlag is the flag of one key. Its text is parsed with all other sources, so
// that all faults are told together.
type keyFlag struct {
	to  *settings
	key config.Key
}

var _ pflag.Value = (*keyFlag)(nil)

func (f *keyFlag) String() string { return "" }
func (f *keyFlag) Type() string   { return f.key.Kind }
func (f *keyFlag) Set(text string) error {
	f.to.overrides = append(f.to.overrides, config.Override{Path: f.key.Path, Text: text, Place: "--" + f.key.Flag()})
	return nil
}

type setFlag struct{ to *settings }

func (f *setFlag) String() string { return "" }
func (f *setFlag) Type() string   { return "key=value" }
func (f *setFlag) Set(text string) error {
	o, err := config.ParseSet(text)
	if err != nil {
		return err
	}
	f.to.overrides = append(f.to.overrides, o)
	return nil
}

// outputFlag is --output: one of the forms a command can write.
type outputFlag struct {
	value string
	forms []string
}

func (f *outputFlag) String() string { return f.value }
func (f *outputFlag) Type() string   { return "form" }
func (f *outputFlag) Set(text string) error {
	if !slices.Contains(f.forms, text) {
		return fmt.Errorf("it is one of %v", f.forms)
	}
	f.value = text
	return nil
}

// outputOn puts --output on a command: text, json, and further forms.
func outputOn(cmd *cobra.Command, more ...string) *outputFlag {
	f := &outputFlag{value: "text", forms: append([]string{"text", "json"}, more...)}
	last := len(f.forms) - 1
	cmd.Flags().VarP(f, "output", "o", "`text`"+strings.TrimPrefix(strings.Join(f.forms[:last], ", "), "text")+" or "+f.forms[last])
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(f.forms, cobra.ShellCompDirectiveNoFileComp)))
	return f
}

// must is for what can go wrong by a mistake in this program alone.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
