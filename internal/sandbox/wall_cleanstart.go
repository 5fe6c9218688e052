package sandbox

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// planCleanStart always stands: environment and descriptors exactly as given,
// a session and process group of its own, no core dump, no_new_privs, the
// parent's death is the command's, and capabilities as asked for.
func planCleanStart(s Spec, of Offer, o *order) Wall {
	w := Wall{Name: nameCleanStart, InForce: true, Mechanism: "no_new_privs, new session, closed descriptors"}
	if !s.DropCaps && !o.UserNS {
		return w
	}
	o.SetCaps = true
	o.KeepCaps = slices.Clone(s.KeepCaps)
	o.DropGroups = of.UID == 0 && !o.UserNS && of.Permitted&(1<<unix.CAP_SETGID) != 0
	w.Mechanism += ", capabilities dropped"
	if o.UserNS {
		return w
	}
	var missing []Cap
	o.KeepCaps = slices.DeleteFunc(o.KeepCaps, func(c Cap) bool {
		if of.Permitted&(1<<c) != 0 {
			return false
		}
		missing = append(missing, c)
		return true
	})
	switch {
	case missing != nil:
		w.Why = fmt.Sprintf("capabilities %v were to be kept, but this process does not hold them", missing)
	case of.Permitted&(1<<unix.CAP_SETPCAP) == 0 && of.Permitted != 0:
		w.Why = "the bounding set stays: lowering it needs CAP_SETPCAP"
	}
	return w
}

// raiseCleanStart comes last before exec, on the thread that will exec: most of
// these attributes belong to a thread.
func raiseCleanStart(o *order) error {
	if o.DropGroups {
		if err := unix.Setgroups(nil); err != nil {
			return fmt.Errorf("drop supplementary groups: %w", err)
		}
	}
	if o.SetCaps {
		if err := setCaps(o.KeepCaps); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	// Again here, although the fork asked for it: a change of credentials
	// clears it.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("tie the command to its parent's life: %w", err)
	}
	return closeAbove(o.FirstFD)
}

// setCaps leaves exactly keep in every set that exec and its children see.
func setCaps(keep []Cap) error {
	var mask uint64
	for _, c := range keep {
		mask |= 1 << c
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	if err := lowerBounding(mask); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	lo, hi := uint32(mask), uint32(mask>>32)
	data := [2]unix.CapUserData{
		{Effective: lo, Permitted: lo, Inheritable: lo},
		{Effective: hi, Permitted: hi, Inheritable: hi},
	}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	if os.Geteuid() == 0 {
		return nil // exec keeps them for uid 0, within the bounding set
	}
	for rest := mask; rest != 0; rest &= rest - 1 {
		c := bits.TrailingZeros64(rest)
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, uintptr(c), 0, 0); err != nil {
			return fmt.Errorf("keep capability %d: %w", c, err)
		}
	}
	return nil
}

// lowerBounding leaves mask in the bounding set. Without CAP_SETPCAP it stays as
// it is, which planning has told.
func lowerBounding(mask uint64) error {
	for c := range 64 {
		if mask&(1<<c) != 0 {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			return nil // beyond the kernel's last capability
		}
		if err != nil && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("drop capability %d from the bounding set: %w", c, err)
		}
	}
	return nil
}

// closeAbove makes every descriptor from first on end at exec.
func closeAbove(first int) error {
	err := unix.CloseRange(uint(first), ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	entries, dirErr := os.ReadDir("/proc/self/fd")
	if dirErr != nil {
		return fmt.Errorf("close inherited descriptors: %w", err)
	}
	for _, e := range entries {
		var fd int
		if _, err := fmt.Sscan(e.Name(), &fd); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
