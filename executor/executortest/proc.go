package executortest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/executor/wire"
)

// canLook says whether processes can be looked at.
func canLook() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}

// parentOf gives a living process's parent; 0: it is gone, or dead and not
// reaped.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, after, ok := bytes.Cut(stat, []byte(") "))
	fields := strings.Fields(string(after))
	if i := bytes.LastIndex(stat, []byte(") ")); ok && i >= 0 { // a name may hold a bracket
		fields = strings.Fields(string(stat[i+2:]))
	}
	if len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
		return 0
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return parent
}

func isAlive(pid int) bool { return parentOf(pid) != 0 }

// descendants lists the living processes below pid.
func descendants(pid int) []int {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	below := map[int][]int{}
	for _, name := range names {
		child, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			continue
		}
		if parent := parentOf(child); parent != 0 {
			below[parent] = append(below[parent], child)
		}
	}
	all := append([]int(nil), below[pid]...)
	for i := 0; i < len(all); i++ {
		all = append(all, below[all[i]]...)
	}
	return all
}

// family is a process and all below it.
func family(pid int) []int { return append([]int{pid}, descendants(pid)...) }

// footprint is what a process holds.
type footprint struct {
	memory         uint64
	files, threads int
}

func (f footprint) String() string {
	return fmt.Sprintf("%.1f MiB, %d descriptors, %d threads", float64(f.memory)/(1<<20), f.files, f.threads)
}

func look(pid int) footprint {
	files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return footprint{memory: wire.Resident(pid), files: len(files), threads: len(threads)}
}

// processorTime is what the processes have used so far; threads that have ended
// are not counted.
func processorTime(pids []int) (total time.Duration) {
	for _, pid := range pids {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, name := range tasks {
			text, err := os.ReadFile(name)
			if err != nil {
				continue
			}
			first, _, _ := strings.Cut(string(text), " ")
			if ns, err := strconv.ParseInt(first, 10, 64); err == nil {
				total += time.Duration(ns)
			}
		}
	}
	return total
}

// descriptor tells what stands behind a process's descriptor: "pipe:[4711]".
func descriptor(pid int, fd string) string {
	link, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd))
	if err != nil {
		return ""
	}
	return link
}

// holdsOpen names the descriptors of a process that stand for what is named.
func holdsOpen(pid int, what string) (fds []string) {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	for _, fd := range list {
		if descriptor(pid, fd.Name()) == what {
			fds = append(fds, fd.Name())
		}
	}
	return fds
}
