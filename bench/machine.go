package main

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/bench/internal/report"
)

// machine says where and when a run is made.
func machine(python string) report.Machine {
	m := report.Machine{Date: time.Now().UTC().Format("2006-01-02 15:04 UTC"), CPUs: runtime.NumCPU(), Go: runtime.Version(), LoadBefore: loadAverage()}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				m.Model = strings.TrimSpace(value)
				break
			}
		}
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel, _, _ = strings.Cut(strings.TrimSpace(string(text)), "-")
	}
	if out, err := exec.Command(python, "-I", "-c", "import platform; print(platform.python_version())").Output(); err == nil { //nolint:noctx // it ends at once
		m.Python = strings.TrimSpace(string(out))
	}
	return m
}

// loadAverage is the machine's load of the last minute.
func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	value, _ := strconv.ParseFloat(first, 64)
	return value
}
