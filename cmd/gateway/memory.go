package main

import (
	"bufio"
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/sluice-gateway/sluice/internal/config"
)

// Memory that is held beside running programs: by the gateway itself, and by
// each plugin process with its warm interpreter and waiting children.
const (
	gatewayMemory = 128 * config.MiB
	pluginMemory  = 128 * config.MiB
)

// fitConcurrency lowers a concurrency so that so many programs, each with its
// whole memory limit, fit into the usable memory beside the pool. Below 1 it
// does not go. Unknown usable memory (0) changes nothing.
func fitConcurrency(want int, memory, pool, usable config.Size) int {
	if usable == 0 || config.Size(want)*memory+pool <= usable {
		return want
	}
	if usable <= pool {
		return 1
	}
	return max(1, int((usable-pool)/memory))
}

// usableMemory is the least of what the machine has available and what the
// control groups around this process allow; 0 when neither is known. root is
// the file system's root.
func usableMemory(root fs.FS) config.Size {
	usable := availableMemory(root)
	for _, limit := range groupLimits(root) {
		if usable == 0 || limit < usable {
			usable = limit
		}
	}
	return usable
}

// availableMemory is MemAvailable of proc(5)'s meminfo.
func availableMemory(root fs.FS) config.Size {
	file, err := root.Open("proc/meminfo")
	if err != nil {
		return 0
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 3 && fields[0] == "MemAvailable:" {
			n, err := strconv.ParseUint(fields[1], 10, 40)
			if err != nil {
				return 0
			}
			return config.Size(n) * config.KiB
		}
	}
	return 0
}

// groupLimits lists the memory limits of this process's control group and of
// all above it, versions 1 and 2.
func groupLimits(root fs.FS) []config.Size {
	membership, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	var limits []config.Size
	for line := range strings.Lines(string(membership)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0":
			limits = append(limits, limitsUp(root, "sys/fs/cgroup", parts[2], "memory.max")...)
			limits = append(limits, limitsUp(root, "sys/fs/cgroup/unified", parts[2], "memory.max")...)
		case parts[1] == "memory":
			limits = append(limits, limitsUp(root, "sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes")...)
		}
	}
	return limits
}

// limitsUp reads a limit in a group and in each above it. In a container the
// group's own path may not be visible; the mount's top is always tried.
func limitsUp(root fs.FS, mount, group, file string) (limits []config.Size) {
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		if limit, err := readLimit(root, path.Join(mount, at, file)); err == nil {
			limits = append(limits, limit)
		}
		if at == "/" {
			return limits
		}
	}
}

// unlimited is how version 1 writes "no limit": the largest page-aligned
// number, or one near it.
const unlimited = config.Size(1) << 60

var errNoLimit = errors.New("no limit")

func readLimit(root fs.FS, name string) (config.Size, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, err //nolint:wrapcheck // read by groupLimits alone, which drops it
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n == 0 || config.Size(n) >= unlimited {
		return 0, errNoLimit
	}
	return config.Size(n), nil
}
