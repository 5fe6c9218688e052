package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/upstream"
)

// maxInput is one byte more than a source may have, so that what is too large
// is told.
const maxInput = 1<<20 + 1

// extract lists the sets of names in a file.
func (c *command) extract(ctx context.Context) (int, error) {
	if c.output != upstream.FormatText && c.output != upstream.FormatJSON {
		return upstream.ExitUsage, fmt.Errorf("extract writes text or json, not %s", c.output)
	}
	name := c.args[0]
	text, err := c.input(name)
	if err != nil {
		return upstream.ExitUsage, err
	}
	extractor, err := c.extractor()
	if err != nil {
		return upstream.ExitUsage, err
	}
	sets, err := extractor.Extract(ctx, name, text)
	if err != nil {
		return upstream.ExitUsage, err
	}
	if c.output == upstream.FormatJSON {
		enc := json.NewEncoder(c.stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(sets)
	} else {
		_, err = io.WriteString(c.stdout, setsText(sets))
	}
	if err != nil {
		return upstream.ExitUsage, fmt.Errorf("write the sets: %w", err)
	}
	return upstream.ExitInStep, nil
}

func (c *command) input(name string) ([]byte, error) {
	from := c.stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read the source: %w", err)
		}
		defer file.Close()
		if info, err := file.Stat(); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("read the source: %s is not a regular file", name)
		}
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, maxInput))
	if err != nil {
		return nil, fmt.Errorf("read the source: %w", err)
	}
	return text, nil
}

func setsText(sets *upstream.Sets) string {
	var out strings.Builder
	for _, set := range sets.Sets {
		fmt.Fprintf(&out, "%s (%s, line %d, %d entries): %s\n", set.Name, set.Kind, set.Line, len(set.Entries), strings.Join(set.Entries, " "))
	}
	for _, s := range sets.Skipped {
		fmt.Fprintf(&out, "%s (line %d): %s\n", s.Name, s.Line, s.Why)
	}
	if g := sets.Guards; len(g.DeniedNodes) > 0 || g.PrivateAttributes || g.PrivateNames {
		fmt.Fprintf(&out, "refused in code: %s; private attributes: %t; private names: %t\n", strings.Join(g.DeniedNodes, " "), g.PrivateAttributes, g.PrivateNames)
	}
	return out.String()
}

// extractor is the python plugin: the one that flags or the configuration
// name, else the one beside this command.
func (c *command) extractor() (upstream.Extractor, error) {
	plugin, python := c.plugin, c.python
	if plugin == "" || python == "" {
		named, interpreter, err := c.configured()
		if err != nil {
			return nil, err
		}
		if plugin == "" {
			plugin = named
		}
		if python == "" {
			python = interpreter
		}
	}
	for _, need := range []struct{ path, flag string }{{plugin, "--python-exec"}, {python, "--python"}} {
		if _, err := os.Stat(need.path); err != nil {
			return nil, fmt.Errorf("find the parser: %w: build it with make, or say where it is (%s)", err, need.flag)
		}
	}
	python, err := filepath.Abs(python)
	return upstream.PythonExec{Command: plugin, Python: python}, err
}

// configured is what the configuration says of the python plugin. Without a
// file it is what make builds, beside this command.
func (c *command) configured() (plugin, python string, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", "", fmt.Errorf("find the parser: %w", err)
	}
	loaded, err := config.Load(config.Sources{File: c.config, Dir: dir, Getenv: c.getenv})
	if err != nil {
		return "", "", fmt.Errorf("read the configuration: %w", err)
	}
	if loaded.File == "" {
		self, err := os.Executable()
		if err != nil {
			return "", "", fmt.Errorf("find the parser: %w", err)
		}
		bin := filepath.Dir(self)
		return filepath.Join(bin, "plugins", "python-exec"), filepath.Join(bin, "..", ".venv", "bin", "python"), nil
	}
	p, ok := loaded.Plugins["python"]
	if !ok {
		return "", "", errors.New("find the parser: the configuration has no plugin python")
	}
	python, _ = p.Config["python"].(string)
	return p.Command, python, nil
}
