package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// emptyTimeout is how long killed processes may take to leave a group.
const emptyTimeout = 5 * time.Second

// killAll ends every process of a group and of those below. Version 2 has a
// file for it that no fork can outrun; else it goes on until nobody is left.
func (g *Groups) killAll(name string) error {
	return killTree(g.dir(memoryController, name))
}

// killTree is done here, not by the library: that logs on standard error,
// which is a plugin's own stream, and waits for processes that are not its own.
func killTree(dir string) error {
	if os.WriteFile(path.Join(dir, "cgroup.kill"), []byte("1"), 0) == nil {
		return nil
	}
	for end := time.Now().Add(emptyTimeout); ; time.Sleep(time.Millisecond) {
		pids, err := pidsUnder(dir)
		if err != nil || len(pids) == 0 {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("end the processes of control group %q: %d are still there", path.Base(dir), len(pids))
		}
		for _, pid := range pids {
			if pid > 0 { // 0: not visible from this PID namespace
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
	}
}

// pidsUnder lists the processes of a group and of those below; a group that is
// gone has none.
func pidsUnder(dir string) ([]int, error) {
	var pids []int
	err := walkGroups(dir, func(d string) error {
		text, err := os.ReadFile(path.Join(d, "cgroup.procs"))
		if err != nil {
			return err
		}
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				return fmt.Errorf("read the processes of a control group: %w", err)
			}
			pids = append(pids, pid)
		}
		return nil
	})
	return pids, err
}

// walkGroups calls do for dir and every directory below, the deepest first. What
// is gone is passed over.
func walkGroups(dir string, do func(string) error) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := walkGroups(path.Join(dir, e.Name()), do); err != nil {
				return err
			}
		}
	}
	err = do(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}

// remove ends what is in a group and removes it from every controller's tree.
func (g *Groups) remove(name string) error {
	var dirs []string
	for _, c := range g.plan.controllers() {
		dirs = append(dirs, g.dir(c, name))
	}
	return removeTrees(dirs)
}

func removeTrees(dirs []string) error {
	var errs []error
	for _, dir := range slices.Backward(dirs) {
		if err := walkGroups(dir, removeOne); err == nil {
			continue
		}
		errs = append(errs, killTree(dir), walkGroups(dir, removeOne))
	}
	return errors.Join(errs...)
}

// removeOne waits while killed processes are still leaving.
func removeOne(dir string) error {
	for end := time.Now().Add(emptyTimeout); ; time.Sleep(time.Millisecond) {
		err := unix.Rmdir(dir)
		switch {
		case err == nil, errors.Is(err, unix.ENOENT):
			return nil
		case !errors.Is(err, unix.EBUSY):
			return fmt.Errorf("remove control group %q: %w", path.Base(dir), err)
		}
		if pids, perr := pidsUnder(dir); perr == nil && len(pids) > 0 {
			return fmt.Errorf("remove control group %q: %w", path.Base(dir), err)
		}
		if time.Now().After(end) {
			return fmt.Errorf("remove control group %q: %w", path.Base(dir), err)
		}
	}
}

// sweep removes the parents whose makers are gone, beside which this process
// is about to make its own. Each controller's tree is looked at by itself:
// processes that share a group in one may be in different ones in another. It
// does what it can; what stays is no fault of the one who starts.
func (p groupPlan) sweep() {
	for _, c := range p.controllers() {
		base := p.dir(c, p.own[c])
		entries, err := os.ReadDir(base)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.IsDir() && strings.HasPrefix(e.Name(), groupPrefix) {
				sweepOne(path.Join(base, e.Name()))
			}
		}
	}
}

func sweepOne(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil { // else its maker lives
		_ = removeTrees([]string{dir})
	}
}
