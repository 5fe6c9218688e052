package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/policy"
	"github.com/sluice-gateway/sluice/policies"
)

type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completeTools offers the tools that the configuration names.
func (p *program) completeTools(a *app) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		if loaded, err := p.load(a); err == nil {
			for _, plugin := range loaded.Plugins {
				names = append(names, plugin.Tools...)
			}
		}
		slices.Sort(names)
		return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeProfiles offers the profiles of the policy in question.
func (p *program) completeProfiles(a *app) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		loaded, err := p.load(a)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		folder := policies.FS()
		if loaded.Policy.Dir != "" {
			folder = policy.Folder(loaded.Policy.Dir)
		}
		return policy.ProfileNames(folder), cobra.ShellCompDirectiveNoFileComp
	}
}
