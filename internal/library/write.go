package library

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"
)

// write puts the entry, the policy's lists and the corpus's two programs down.
func (w *work) write(e entry) error {
	text, err := yaml.Dump([]entry{e}, yaml.WithIndent(2))
	if err != nil {
		return fmt.Errorf("write %s: %w", entriesFile, err)
	}
	if err := w.put(entriesFile, strings.TrimRight(string(w.before[entriesFile]), "\n")+"\n"+string(text)); err != nil {
		return err
	}
	if err := w.lists(e); err != nil {
		return fmt.Errorf("%s: %w", listsFile, err)
	}
	profiles, err := keepFrom(string(w.before[profilesFile]), e.Modules, w.o.Profiles)
	if err != nil {
		return err
	}
	if err := w.put(profilesFile, profiles); err != nil {
		return err
	}
	return w.corpus(e)
}

func (w *work) lists(e entry) error {
	text := string(w.before[listsFile])
	var err error
	for _, change := range []func(){
		func() { text, err = addToList(text, "allowed_imports", e.Modules) },
		func() { text, err = addToList(text, "blocked_paths", e.Denied) },
		func() { text, err = addToList(text, "available_modules", e.Roots) },
		func() { text, err = takeFromList(text, "absent_modules", e.Roots) },
	} {
		if change(); err != nil {
			return err
		}
	}
	return w.put(listsFile, text)
}

// corpus writes a program that must pass and one that must not.
func (w *work) corpus(e entry) error {
	under := "# profile: " + strings.Join(w.o.Profiles, ", ")
	name := strings.ReplaceAll(w.name, "-", "_")
	allow := under + "\n"
	for _, module := range e.Modules {
		allow += "import " + module + "\n"
	}
	allow += "print(" + e.Modules[0] + ".__name__)\n"
	deny := "# expect: blocked-import 2; " + under[2:] + "\nimport " + e.Roots[0] + ".not_listed\n"
	if len(e.Denied) > 0 {
		module := e.Denied[0][:strings.LastIndexByte(e.Denied[0], '.')]
		deny = "# expect: blocked-path 3; " + under[2:] + "\nimport " + module + "\nprint(" + e.Denied[0] + ")\n"
	}
	if err := w.put(policiesDir+"/corpus/allow/library_"+name+".py", allow); err != nil {
		return err
	}
	return w.put(policiesDir+"/corpus/deny/library_"+name+".py", deny)
}

// exchange puts the new environment in the place of the old one. Children of the
// zygote that runs have the old one open until they end.
func (w *work) exchange(fresh string) error {
	now, aside := w.path(".venv"), w.path(".venv.old")
	if err := os.RemoveAll(aside); err != nil {
		return err
	}
	if err := os.Rename(now, aside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(fresh, now); err != nil {
		return errors.Join(err, os.Rename(aside, now))
	}
	return os.RemoveAll(filepath.Clean(aside))
}
