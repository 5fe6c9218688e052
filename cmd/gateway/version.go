package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
)

// version is the release that this tree leads to.
const version = "0.1.0"

// build is the commit; the linker sets it.
var build = "unknown" //nolint:gochecknoglobals // -ldflags -X needs a variable

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "Say which version this is", Args: cobra.NoArgs}
	output := outputOn(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		if output.value == "json" {
			return writeJSON(a.stdout, map[string]any{
				"version": version, "build": build, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "pins": pins(),
			})
		}
		_, err := fmt.Fprintln(a.stdout, versionText())
		return written(err)
	}
	return cmd
}

func versionText() string {
	return fmt.Sprintf("Sluice gateway %s (%s, %s, %s/%s)", version, build, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return written(enc.Encode(v))
}

// written turns a failed write of the answer into its exit status.
func written(err error) error {
	if err != nil {
		return failed(fmt.Errorf("write the answer: %w", err))
	}
	return nil
}
