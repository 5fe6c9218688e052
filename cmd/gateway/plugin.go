package main

import "github.com/spf13/cobra"

// pluginCommand holds what makers and operators of plugins need.
func (a *app) pluginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "plugin", Short: "Make, prove, watch and exchange executor plugins",
		Long: `Makes, proves, watches and exchanges executor plugins.

verify, new and dev are for who makes one; the others speak to a gateway that
runs, at its admin listener. docs/writing-a-plugin.md has the whole story.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(a.pluginVerifyCommand(), a.pluginListCommand(), a.pluginInfoCommand(), a.pluginLogsCommand())
	cmd.AddCommand(a.pluginOrderCommands()...)
	cmd.AddCommand(a.pluginNewCommand(), a.pluginDevCommand())
	return cmd
}
