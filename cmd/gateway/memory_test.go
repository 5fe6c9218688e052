package main

import (
	"testing"
	"testing/fstest"

	"github.com/sluice-gateway/sluice/internal/config"
)

func TestFitConcurrency(t *testing.T) {
	const gib, pool = config.GiB, 256 * config.MiB
	for name, c := range map[string]struct {
		want    int
		usable  config.Size
		expects int
	}{
		"fits":                   {want: 4, usable: 8 * gib, expects: 4},
		"fits exactly":           {want: 4, usable: 4*gib + pool, expects: 4},
		"one byte too few":       {want: 4, usable: 4*gib + pool - 1, expects: 3},
		"half":                   {want: 8, usable: 4 * gib, expects: 3},
		"not even one":           {want: 8, usable: gib, expects: 1},
		"less than the pool":     {want: 8, usable: pool / 2, expects: 1},
		"nobody knows the space": {want: 8, usable: 0, expects: 8},
	} {
		if got := fitConcurrency(c.want, gib, pool, c.usable); got != c.expects {
			t.Errorf("%s: got %d, want %d", name, got, c.expects)
		}
	}
}

func TestUsableMemory(t *testing.T) {
	const meminfo = "MemTotal: 9000000 kB\nMemAvailable:    8388608 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  config.Size
	}{
		"machine alone": {map[string]string{"proc/meminfo": meminfo}, 8 * config.GiB},
		"unknown":       {map[string]string{}, 0},
		"version 2, limit in the group above": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "1073741824\n",
		}, config.GiB},
		"version 2, seen from a container": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "2147483648\n",
		}, 2 * config.GiB},
		"version 1": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/x\n2:cpu:/\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "536870912\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 512 * config.MiB},
		"version 1, its own path not visible": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/host/path\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "536870912\n",
		}, 512 * config.MiB},
		"limit above what is there": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "99999999999\n",
		}, 8 * config.GiB},
		"garbage": {map[string]string{"proc/meminfo": "MemAvailable: many kB\n", "proc/self/cgroup": "nonsense\n0::/../../..\n"}, 0},
	} {
		root := fstest.MapFS{}
		for path, text := range c.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := usableMemory(root); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
