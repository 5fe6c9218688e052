package main

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// survey is what an interpreter says of itself before it is walled in.
type survey struct {
	Version string   `json:"version"`
	Folders []string `json:"folders"` // its prefix and its library
	Mapped  []string `json:"mapped"`  // shared libraries in use, NumPy's too
}

const surveyText = `
import json, platform, sys, sysconfig
try:
    import ctypes, numpy.linalg
except ImportError as error:
    sys.exit("%s; the environment must be built from requirements.lock" % error)
with open("/proc/self/maps") as maps:
    mapped = {line.split(None, 5)[5].strip() for line in maps if len(line.split(None, 5)) == 6}
print(json.dumps({
    "version": platform.python_version(),
    "folders": sorted({sys.prefix, sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}),
    "mapped": sorted(path for path in mapped if path.startswith("/")),
}))
`

const surveyWithin = 20 * time.Second

// surveyInterpreter asks the interpreter, which is trusted, what it needs.
func surveyInterpreter(ctx context.Context, path string, env []string) (survey, error) {
	ctx, cancel := context.WithTimeout(ctx, surveyWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-I", "-B", "-c", surveyText) //nolint:gosec // the operator's own interpreter
	cmd.Env, cmd.Dir = env, "/"
	out, err := cmd.Output()
	var s survey
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			lines := bytes.Split(bytes.TrimSpace(exit.Stderr), []byte("\n"))
			err = fmt.Errorf("%w: %s", err, cut(string(lines[len(lines)-1]), textBytes))
		}
		return s, fmt.Errorf("ask the interpreter what it needs: %w", err)
	}
	if err := json.Unmarshal(out, &s); err != nil {
		return s, fmt.Errorf("ask the interpreter what it needs: %w", err)
	}
	return s, nil
}

// readOnly lists the paths that the interpreter needs and no others: itself,
// its library, the environment, the system's shared libraries and their loader.
func (s survey) readOnly(interpreter string) []string {
	paths := append([]string{interpreter}, s.Folders...)
	if loader := loaderOf(interpreter); loader != "" {
		paths = append(paths, loader)
	}
	for _, file := range s.Mapped {
		if dir := filepath.Dir(file); strings.Contains(filepath.Base(file), ".so") && !s.covers(file) {
			paths = append(paths, dir)
		}
	}
	if _, err := os.Stat("/etc/ld.so.cache"); err == nil {
		paths = append(paths, "/etc/ld.so.cache")
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func (s survey) covers(file string) bool {
	return slices.ContainsFunc(s.Folders, func(dir string) bool { return strings.HasPrefix(file, dir+"/") })
}

// loaderOf is the program interpreter that an executable names, or nothing.
func loaderOf(path string) string {
	file, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type != elf.PT_INTERP || p.Filesz > 4096 {
			continue
		}
		name := make([]byte, p.Filesz)
		if _, err := p.ReadAt(name, 0); err != nil {
			return ""
		}
		return string(bytes.TrimRight(name, "\x00"))
	}
	return ""
}
