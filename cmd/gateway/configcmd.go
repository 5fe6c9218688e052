package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/config"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Show or check the configuration", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return misused(errors.New("config needs a sub-command: print or check"))
		},
	}
	cmd.AddCommand(a.configPrintCommand(), a.configCheckCommand())
	return cmd
}

func (a *app) configPrintCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "print", Short: "Print the configuration in force and who set what", Args: cobra.NoArgs,
		Long: "Prints the configuration in force as YAML (or JSON). A comment behind a value that\nis no default says who set it.",
	}
	output, s := outputOn(cmd), &settings{}
	s.addTo(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		loaded, err := s.load(a)
		if err != nil {
			return err
		}
		if output.value == "json" {
			return writeJSON(a.stdout, loaded.Map())
		}
		text, err := loaded.YAML()
		if err != nil {
			return failed(err)
		}
		_, err = a.stdout.Write(text)
		return written(err)
	}
	return cmd
}

func (a *app) configCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "check", Short: "Say whether the configuration would be taken", Args: cobra.NoArgs,
		Long: "Reads the configuration, the tokens file and the policy as serve would, starts\nnothing, and tells every fault with its place; the policy's corpus is not run. Exit status: 0 it would be taken, 2 it would not.",
	}
	output, s := outputOn(cmd), &settings{}
	s.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		loaded, err := s.load(a)
		if err == nil {
			warnings, faults := checkPolicy(cmd.Context(), loaded)
			loaded.Warnings = append(loaded.Warnings, warnings...)
			if len(faults) > 0 {
				err = misused(fmt.Errorf("the configuration is wrong:\n%w", faults))
			}
		}
		if output.value == "json" {
			return a.checkedJSON(loaded, err)
		}
		if err != nil {
			return err
		}
		for _, w := range loaded.Warnings {
			fmt.Fprintf(a.stderr, "gateway: note: %s\n", w)
		}
		_, err = fmt.Fprintf(a.stdout, "%s: the configuration is good\n", orDefaults(loaded.File))
		return written(err)
	}
	return cmd
}

func (a *app) checkedJSON(loaded *config.Loaded, err error) error {
	answer := struct {
		OK       bool          `json:"ok"`
		File     string        `json:"file"`
		Faults   config.Faults `json:"faults"`
		Warnings []string      `json:"warnings"`
	}{OK: err == nil, Faults: config.Faults{}, Warnings: []string{}}
	var faults config.Faults
	if errors.As(err, &faults) {
		answer.Faults = faults
	}
	if loaded != nil {
		answer.File, answer.Warnings = loaded.File, append(answer.Warnings, loaded.Warnings...)
	}
	if failure := writeJSON(a.stdout, answer); failure != nil {
		return failure
	}
	if err != nil {
		return &exitError{status: exitUsage}
	}
	return nil
}

func orDefaults(file string) string {
	if file == "" {
		return "defaults (no file)"
	}
	return file
}
