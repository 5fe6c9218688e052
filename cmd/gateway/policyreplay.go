package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

func (a *app) policyReplayCommand() *cobra.Command {
	c := &comparing{}
	cmd := &cobra.Command{
		Use: "replay LOG…", Short: "Say what a policy would have done with recorded decisions", Args: cobra.MinimumNArgs(1),
		Long: `Reads decision logs (- is standard input), has each recorded program parsed anew,
asks the policy folder about it as the same caller under the same profile, and
compares with what was decided: newly refused, newly allowed, refused for other
reasons; for each rule and each caller. A log records programs when
audit.record_source is on; else --programs names a folder that holds them, under any
names: they are found by their digests. A cell of a session is judged without the
cells before it.

Exit status: 0 nothing is newly allowed; 1 something is, or a program has no verdict
for a fault, or the policy does not load; 2 wrong command line or configuration.`,
		Example: "  gateway policy replay decisions.jsonl --policy-dir my-policies\n  gateway policy replay decisions.jsonl --programs kept-programs --output json",
	}
	c.addFlags(a, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.with(cmd, "", func(ctx context.Context, h *house) error { return c.replay(ctx, h, args) })
	}
	return cmd
}

func (c *comparing) replay(ctx context.Context, h *house, logs []string) error {
	store, err := h.unproved(ctx)
	if err != nil {
		return err
	}
	current, err := store.Current()
	if err != nil {
		return failed(err)
	}
	log, err := c.readLogs(h, logs)
	if err != nil {
		return err
	}
	var recorded gateway.Policy
	found, err := c.compare(ctx, h, recorded, current, log.Cases)
	if err != nil {
		return err
	}
	return c.show(differing{Old: side{Folder: "as recorded"}, New: sideName(h.policyName(), current), Log: log}, found)
}
