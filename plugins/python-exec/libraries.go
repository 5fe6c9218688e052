package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sluice-gateway/sluice/executor"
)

//go:embed libraries.yaml
var librariesText []byte

// library is an entry of libraries.yaml.
type library struct {
	Distribution string   `yaml:"distribution"`
	Roots        []string `yaml:"roots"`
	WarmUp       string   `yaml:"warm_up"`
	Modules      []string `yaml:"modules"`
	Denied       []string `yaml:"denied"`
}

func readLibraries() ([]library, error) {
	var list []library
	if err := yaml.Load(librariesText, &list, yaml.WithKnownFields()); err != nil {
		return nil, fmt.Errorf("read libraries.yaml: %w", err)
	}
	return list, nil
}

// libraries lists what submitted programs can import beyond the standard
// library, from the lock that the environment was built from.
func libraries() []executor.Library {
	known, err := readLibraries()
	if err != nil {
		return nil // a test reads it
	}
	roots := map[string][]string{}
	for _, l := range known {
		roots[l.Distribution] = l.Roots
	}
	var list []executor.Library
	for _, m := range pinned.FindAllStringSubmatch(lockText, -1) {
		list = append(list, executor.Library{Name: m[1], Version: m[2], Roots: slices.Clone(roots[m[1]])})
	}
	return list
}

// warmUps are what the zygote runs for added libraries.
func warmUps() ([]string, error) {
	known, err := readLibraries()
	if err != nil {
		return nil, err
	}
	texts := []string{}
	for _, l := range known {
		if l.WarmUp != "" {
			texts = append(texts, l.WarmUp)
		}
	}
	return texts, nil
}

// environmentMark changes when venv.sh builds the interpreter's environment anew;
// empty: it was not made by that.
func environmentMark(python string) string {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(python)), ".stamp"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
