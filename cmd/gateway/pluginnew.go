package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
)

//go:embed all:skeletons
var skeletons embed.FS

// languageName is what a language, its Rego package and its tree's schema may be
// called.
var languageName = regexp.MustCompile(`^[a-z][a-z0-9]{1,23}$`)

// skeleton is what a plugin begins as.
type skeleton struct {
	Name string
	Tree string // of Sluice's sources; empty: whoever builds it says where they are
}

func (a *app) pluginNewCommand() *cobra.Command {
	var lang, dir, tree string
	cmd := &cobra.Command{
		Use: "new NAME", Short: "Begin a plugin: a skeleton that keeps the contract", Args: cobra.ExactArgs(1),
		Long: `Writes the skeleton of a plugin for a language: a program that keeps the contract,
samples, a policy with its corpus, a test, a Makefile and a README. 'make verify'
in its folder holds it against the whole contract.`,
		Example: "  gateway plugin new lua --lang go --tree ~/sluice\n  gateway plugin new lua --lang python",
	}
	cmd.Flags().StringVar(&lang, "lang", "go", "the `LANGUAGE` that the plugin is written in: go or python")
	cmd.Flags().StringVar(&dir, "dir", "", "`FOLDER` to make (default: plugin-NAME)")
	cmd.Flags().StringVar(&tree, "tree", "", "`FOLDER` of Sluice's sources, whose packages and contract the plugin is built with; go needs it")
	must(cmd.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions(skeletonLanguages(), cobra.ShellCompDirectiveNoFileComp)))
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		name := args[0]
		if !languageName.MatchString(name) {
			return misused(fmt.Errorf("%q is no name for a language: 2 to 24 of a-z and 0-9, beginning with a letter", name))
		}
		if !slices.Contains(skeletonLanguages(), lang) {
			return misused(fmt.Errorf("--lang %s: it is one of %s", lang, strings.Join(skeletonLanguages(), ", ")))
		}
		if dir == "" {
			dir = "plugin-" + name
		}
		tree, err := sourcesAt(a.dir, tree, lang)
		if err != nil {
			return misused(err)
		}
		to := absolutePath(a.dir, dir)
		if err := writeSkeleton(path.Join("skeletons", lang), to, skeleton{Name: name, Tree: tree}); err != nil {
			return failed(err)
		}
		next := "make verify"
		if tree == "" {
			next += " SLUICE=FOLDER, that of Sluice's sources"
		}
		_, err = fmt.Fprintf(a.stdout, "%s is there. Next: cd %s && %s\n", dir, dir, next)
		return written(err)
	}
	return cmd
}

// plainPath is a path that go.mod and make read as it stands.
var plainPath = regexp.MustCompile(`^[\pL\pN/._+@~,-]+$`)

// sourcesAt is where Sluice's sources are: no module proxy has them.
func sourcesAt(dir, tree, lang string) (string, error) {
	if tree == "" {
		if lang == "go" {
			return "", errors.New("--lang go needs --tree FOLDER: the folder of Sluice's sources, which no module proxy has")
		}
		return "", nil
	}
	tree = absolutePath(dir, tree)
	if !plainPath.MatchString(tree) {
		return "", fmt.Errorf("--tree %q: go.mod and make would read a sign in it as their own; name a link to it instead", tree)
	}
	text, err := os.ReadFile(filepath.Join(tree, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("--tree %s: these are not Sluice's sources: %w", tree, err)
	}
	if !strings.HasPrefix(string(text), "module github.com/sluice-gateway/sluice\n") {
		return "", fmt.Errorf("--tree %s: these are not Sluice's sources: its go.mod is of another module", tree)
	}
	return tree, nil
}

func skeletonLanguages() (list []string) {
	entries, err := skeletons.ReadDir("skeletons")
	must(err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// writeSkeleton fills in every template below from. It writes over nothing.
func writeSkeleton(from, to string, s skeleton) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return fmt.Errorf("make the plugin's folder: %w", err)
	}
	return fs.WalkDir(skeletons, from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := skeletons.ReadFile(name)
		if err != nil {
			return err
		}
		filled, err := template.New(name).Parse(string(text))
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := filled.Execute(&out, s); err != nil {
			return err
		}
		return writeSkeletonFile(filepath.Join(to, placeOf(strings.TrimPrefix(name, from+"/"), s)), out.Bytes())
	})
}

// placeOf is where a template's file goes.
func placeOf(name string, s skeleton) string {
	name = strings.TrimSuffix(strings.ReplaceAll(name, "NAME", s.Name), ".tmpl")
	if name == "gitignore" {
		return ".gitignore"
	}
	return filepath.FromSlash(name)
}

func writeSkeletonFile(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the skeleton: %w", err)
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
