package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

//go:embed runtime/*.py
var runtimeFiles embed.FS

// bootText is the program that the interpreter is started with; it loads the
// rest from a descriptor.
func bootText() (string, error) {
	text, err := runtimeFiles.ReadFile("runtime/boot.py")
	if err != nil {
		return "", fmt.Errorf("read the boot program: %w", err)
	}
	return string(text), nil
}

// bundleFile holds the Python half and the plan of its walls in an unnamed file
// in memory, so that no path leads to it.
func bundleFile(plan childPlan) (*os.File, error) {
	bundle := map[string]string{}
	names, err := fs.Glob(runtimeFiles, "runtime/*.py")
	if err != nil {
		return nil, fmt.Errorf("list the runtime: %w", err)
	}
	for _, name := range names {
		text, err := runtimeFiles.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the runtime: %w", err)
		}
		bundle[strings.TrimSuffix(path.Base(name), ".py")] = string(text)
	}
	warm, err := warmUps()
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(map[string]any{"sources": bundle, "plan": plan, "warm_up": warm})
	if err != nil {
		return nil, fmt.Errorf("pack the runtime: %w", err)
	}
	fd, err := unix.MemfdCreate("runtime", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	file := os.NewFile(uintptr(fd), "runtime")
	if _, err := file.Write(data); err != nil {
		file.Close()
		return nil, fmt.Errorf("write the runtime: %w", err)
	}
	if _, err := file.Seek(0, 0); err != nil {
		file.Close()
		return nil, fmt.Errorf("rewind the runtime: %w", err)
	}
	return file, nil
}
