package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// planNamespaces takes those that are wanted and offered. A PID namespace that
// wants its own /proc and cannot have one is left out: with the outer /proc the
// numbers inside would name other processes.
func planNamespaces(s Spec, of Offer, o *order) Wall {
	w := Wall{Name: nameNamespaces}
	var missing []string
	for _, n := range s.Namespaces {
		switch {
		case !slices.Contains(of.Namespaces, n):
			missing = append(missing, string(n))
		case n == PID && lacksProc(s, of):
			missing = append(missing, "pid (a /proc of its own cannot be mounted here)")
		case !slices.Contains(w.Namespaces, n):
			w.Namespaces = append(w.Namespaces, n)
		}
	}
	w.Why = whyMissing(missing, of)
	if w.Namespaces == nil {
		return w
	}
	w.InForce, w.Mechanism = true, string(of.Mechanism)
	o.Namespaces, o.UserNS = w.Namespaces, of.Mechanism == ByUserNamespace
	o.FreshProc = s.FreshProc && w.has(PID) && w.has(Mount) && of.FreshProc
	return w
}

// lacksProc: the spec wants a new /proc over the old one and cannot have it.
func lacksProc(s Spec, of Offer) bool {
	can := of.FreshProc && slices.Contains(s.Namespaces, Mount)
	return s.FreshProc && s.ReadOnly == nil && !can
}

func whyMissing(missing []string, of Offer) string {
	switch {
	case missing == nil:
		return ""
	case of.Why == "":
		return "missing: " + strings.Join(missing, ", ")
	}
	return "missing: " + strings.Join(missing, ", ") + " (" + of.Why + ")"
}

// raiseNamespaces finishes what the fork's flags began.
func raiseNamespaces(o *order) error {
	if slices.Contains(o.Namespaces, UTS) {
		if err := unix.Sethostname([]byte("sandbox")); err != nil {
			return fmt.Errorf("set the host's name: %w", err)
		}
	}
	if !slices.Contains(o.Namespaces, Mount) {
		return nil
	}
	propagation := uintptr(unix.MS_SLAVE)
	if o.Root != nil {
		propagation = unix.MS_PRIVATE // pivot_root wants it so
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|propagation, ""); err != nil {
		return fmt.Errorf("part the mounts from the host's: %w", err)
	}
	if o.FreshProc && o.Root == nil {
		return mountProc("/proc")
	}
	return nil
}

func mountProc(at string) error {
	if err := unix.Mount("proc", at, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount a new /proc: %w", err)
	}
	return nil
}

func cloneFlags(ns []Namespace, user bool) uintptr {
	var flags uintptr
	for _, n := range ns {
		flags |= n.flag()
	}
	if user {
		flags |= unix.CLONE_NEWUSER
	}
	return flags
}
