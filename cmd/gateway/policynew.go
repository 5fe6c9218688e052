package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/policy"
	"github.com/sluice-gateway/sluice/internal/policy/workbench"
)

func (a *app) policyNewCommand() *cobra.Command {
	w := &workshop{}
	var refuses []string
	cmd := &cobra.Command{
		Use: "new LANGUAGE/RULE", Short: "Begin a rule: the rule, its METADATA, its test, and two programs", Args: cobra.ExactArgs(1),
		Long: `Writes four files into the policy folder: custom/RULE.rego with METADATA,
custom/RULE_test.rego, a program that the rule refuses under corpus/deny and one that
it lets pass under corpus/allow. In Python and for calc they pass as they stand, in
another language the two programs are a guess; put your own in their place.
A gateway does not put the folder in force before the rule's hint is written. No file
is overwritten.

Exit status: 0 written; 1 a file or a rule of that name is there; 2 wrong command
line or configuration.`,
		Example: "  gateway policy new python/no-numpy-load --refuses numpy.load --policy-dir my-policies",
	}
	cmd.Flags().StringArrayVar(&refuses, "refuses", nil, "`NAME` that the rule refuses: a plain name, or a dotted name of a library (repeatable)")
	w.addTo(a, cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		language, rule, ok := strings.Cut(args[0], "/")
		if !ok {
			return misused(fmt.Errorf("%q: write LANGUAGE/RULE, such as python/no-numpy-load", args[0]))
		}
		loaded, err := w.load(a)
		if err != nil {
			return err
		}
		dir := loaded.Policy.Dir
		if dir == "" {
			return misused(errors.New("the policy inside this binary cannot be changed: name a folder with --policy-dir"))
		}
		files, err := workbench.Scaffold{Language: language, Rule: rule, Refuses: refuses}.Files(policy.Folder(dir))
		if err != nil {
			return failed(err)
		}
		names, err := writeNew(dir, files)
		if err != nil {
			return failed(err)
		}
		return w.tell(map[string]any{"rule": rule, "files": names}, func(p *painter) error {
			for _, name := range names {
				p.printf("wrote %s\n", name)
			}
			p.printf("next: edit them; while the hint is as written, no gateway puts the folder in force. Then gateway policy check --policy-dir %s\n", dir)
			return p.err
		})
	}
	return cmd
}

// writeNew writes files that are not there yet, and says where.
func writeNew(dir string, files []workbench.File) (names []string, err error) {
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, fmt.Errorf("write the rule: %w", err)
		}
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, fmt.Errorf("write the rule: %w", err)
		}
		_, err = file.WriteString(f.Text)
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("write the rule: %w", err)
		}
		names = append(names, name)
	}
	return names, nil
}
