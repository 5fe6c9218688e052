package sandbox

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// landlockOrder is a domain for the shim to enter.
type landlockOrder struct {
	Domain Domain
	ABI    int
}

// planLandlock puts the command and all that it starts into a domain.
func planLandlock(s Spec, of Offer, o *order) Wall {
	w := Wall{Name: nameLandlock}
	switch {
	case s.Landlock == nil:
		return w
	case of.Landlock < 1:
		w.Why = orElse(of.LandlockWhy, "the kernel has no Landlock")
		return w
	}
	config := domainConfig(*s.Landlock, of.Landlock)
	if config.HandledAccessFS == 0 && config.HandledAccessNet == 0 && config.Scoped == 0 {
		w.Why = fmt.Sprintf("Landlock ABI %d has nothing to take but paths, which are to stay", of.Landlock)
		return w
	}
	o.Landlock = &landlockOrder{Domain: *s.Landlock, ABI: of.Landlock}
	return landlockWall(config, of.Landlock)
}

// raiseLandlock comes after the root, in which the paths are looked up, and
// restricts this thread, which will exec.
func raiseLandlock(o *order) error {
	if o.Landlock == nil {
		return nil
	}
	config := domainConfig(o.Landlock.Domain, o.Landlock.ABI)
	rules, err := landlockRules(o.Landlock.Domain.grants(uint64(config.HandledAccessFS)))
	if err != nil {
		return err
	}
	fd, flags, err := config.NewRulesetFD(rules...)
	if err != nil {
		return fmt.Errorf("make a Landlock ruleset: %w", err)
	}
	defer unix.Close(fd)
	if err := ll.LandlockRestrictSelf(fd, flags); err != nil {
		return fmt.Errorf("enter a Landlock domain: %w", err)
	}
	return nil
}

func landlockRules(grants []DomainRule) ([]landlock.Rule, error) {
	var rules []landlock.Rule
	for _, g := range grants {
		info, err := os.Stat(g.Path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look at %q: %w", g.Path, err)
		}
		access := g.File
		if info.IsDir() {
			access = g.Dir
		}
		rules = append(rules, landlock.PathAccess(landlock.AccessFSSet(access), g.Path))
	}
	return rules, nil
}

// offerLandlock asks for the ABI. A kernel that has it takes a ruleset from
// everyone, so there is nothing more to try.
func offerLandlock(of *Offer) {
	abi, err := ll.LandlockGetABIVersion()
	switch {
	case errors.Is(err, unix.ENOSYS):
		of.LandlockWhy = "the kernel has no Landlock, or a filter hides it"
	case errors.Is(err, unix.EOPNOTSUPP):
		of.LandlockWhy = "Landlock is not enabled: add landlock to the kernel's lsm= list"
	case err != nil:
		of.LandlockWhy = err.Error()
	default:
		of.Landlock = abi
	}
}

func sorted(words []string) []string {
	slices.Sort(words)
	return words
}
