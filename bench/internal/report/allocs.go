package report

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Allocations reads the allocations of one operation from what `go test -bench
// -benchmem` prints. A benchmark that ran several times counts with its least.
// Names are given as PACKAGE.Benchmark/case, the package without the module's
// path and the name without the number of processors.
func Allocations(in io.Reader, module string) (map[string]int64, error) {
	found := map[string]int64{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	where := ""
	for lines.Scan() {
		line := lines.Text()
		if name, ok := strings.CutPrefix(line, "pkg: "); ok {
			where = strings.TrimPrefix(strings.TrimPrefix(name, module), "/")
			continue
		}
		name, allocs, ok := allocations(line)
		if !ok {
			continue
		}
		name = where + "." + name
		if before, ok := found[name]; !ok || allocs < before {
			found[name] = allocs
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read benchmarks: %w", err)
	}
	return found, nil
}

func allocations(line string) (name string, allocs int64, ok bool) {
	f := strings.Fields(line)
	if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
		return "", 0, false
	}
	for i := 3; i < len(f); i++ {
		if f[i] != "allocs/op" {
			continue
		}
		n, err := strconv.ParseInt(f[i-1], 10, 64)
		return withoutProcessors(f[0]), n, err == nil
	}
	return "", 0, false
}

// withoutProcessors cuts the "-2" that go test adds on two processors.
func withoutProcessors(name string) string {
	at := strings.LastIndexByte(name, '-')
	if at < 0 {
		return name
	}
	if _, err := strconv.Atoi(name[at+1:]); err != nil {
		return name
	}
	return name[:at]
}

// AllocationFaults holds benchmarks against the bounds; one that is missing is
// a fault too.
func (b Bounds) AllocationFaults(found map[string]int64) (faults []string, held int) {
	for _, name := range slices.Sorted(maps.Keys(b.Allocations)) {
		most := b.Allocations[name]
		got, ok := found[name]
		switch {
		case !ok:
			faults = append(faults, fmt.Sprintf("%s has a bound and did not run", name))
		case got > most:
			faults = append(faults, fmt.Sprintf("%s allocates %d times, at most %d are allowed", name, got, most))
		default:
			held++
		}
	}
	return faults, held
}
