package sandbox

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// planRlimits: resource limits need no right and always stand.
func planRlimits(s Spec, _ Offer, o *order) Wall {
	o.Rlimits = append([]Rlimit{{Resource: unix.RLIMIT_CORE}}, s.Rlimits...)
	return Wall{Name: nameRlimits, InForce: true, Mechanism: "setrlimit"}
}

func raiseRlimits(o *order) error {
	for _, r := range o.Rlimits {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(r.Resource, &now); err != nil {
			return fmt.Errorf("read resource limit %d: %w", r.Resource, err)
		}
		hard := min(r.Hard, now.Max)
		// The standard library's call, not x/sys: it also makes the runtime
		// forget the descriptor limit that it would put back at exec.
		if err := syscall.Setrlimit(r.Resource, &syscall.Rlimit{Cur: min(r.Soft, hard), Max: hard}); err != nil {
			return fmt.Errorf("set resource limit %d to %d: %w", r.Resource, r.Soft, err)
		}
	}
	return nil
}
