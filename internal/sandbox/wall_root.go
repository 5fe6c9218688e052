package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"
)

// rootOrder is a root to be made; Steps are filled when the command is started,
// since only then the links are looked at.
type rootOrder struct {
	Steps    []step
	TmpBytes uint64
	Proc     bool
}

// planRoot needs a mount namespace, and so comes after planNamespaces.
func planRoot(s Spec, of Offer, o *order) Wall {
	w := Wall{Name: nameRoot}
	switch {
	case s.ReadOnly == nil:
		return w
	case !slices.Contains(o.Namespaces, Mount):
		w.Why = "there is no mount namespace to make it in"
		return w
	case !of.Pivot:
		w.Why = "pivot_root is refused here"
		return w
	}
	w.InForce, w.Mechanism = true, "pivot_root into a tmpfs with read-only binds"
	o.Root = &rootOrder{TmpBytes: s.TmpBytes, Proc: o.FreshProc}
	if o.Root.TmpBytes == 0 {
		o.Root.TmpBytes = defaultTmpBytes
	}
	return w
}

const (
	oldRoot = "/old" // the host's root, while the new one is made
	newRoot = "/new"
)

// raiseRoot goes through a staging root: a tmpfs that holds both the host's
// root and the one being made, so that a path under the staging place can be
// bound too.
func raiseRoot(o *order) error {
	if o.Root == nil {
		return nil
	}
	old := unix.Umask(0)
	defer unix.Umask(old)
	if err := stage(); err != nil {
		return err
	}
	if err := furnish(o.Root); err != nil {
		return err
	}
	return moveIn()
}

func stage() error {
	base, err := stagingPlace()
	if err != nil {
		return err
	}
	if err := mountTmpfs(base, "size=1m,mode=0755", 0); err != nil {
		return err
	}
	for _, dir := range []string{oldRoot, newRoot} {
		if err := os.Mkdir(base+dir, 0o755); err != nil {
			return fmt.Errorf("make the staging root: %w", err)
		}
	}
	if err := unix.PivotRoot(base, base+oldRoot); err != nil {
		return fmt.Errorf("pivot into the staging root: %w", err)
	}
	return unix.Chdir("/")
}

func stagingPlace() (string, error) {
	for _, dir := range []string{"/tmp", "/var/tmp", "/run", "/mnt"} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	return "", errors.New("find a directory for the staging root: there is no /tmp, /var/tmp, /run or /mnt")
}

func furnish(r *rootOrder) error {
	if err := mountTmpfs(newRoot, "size=1m,mode=0755", 0); err != nil {
		return err
	}
	for _, dir := range []string{"/dev", "/tmp"} {
		if err := os.Mkdir(newRoot+dir, 0o755); err != nil {
			return fmt.Errorf("make %q: %w", dir, err)
		}
	}
	if err := mountTmpfs(newRoot+"/tmp", fmt.Sprintf("size=%d,nr_inodes=8192,mode=1777", r.TmpBytes), unix.MS_NOEXEC); err != nil {
		return err
	}
	for _, dev := range []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"} {
		// Read-only, which devices can be written through, but not given other times.
		if err := bind(step{Kind: stepFile, Path: dev}, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return err
		}
	}
	for _, s := range r.Steps {
		if err := place(s); err != nil {
			return err
		}
	}
	if !r.Proc {
		return nil
	}
	if err := os.Mkdir(newRoot+"/proc", 0o755); err != nil {
		return fmt.Errorf("make /proc: %w", err)
	}
	return mountProc(newRoot + "/proc")
}

func place(s step) error {
	if err := os.MkdirAll(newRoot+path.Dir(s.Path), 0o755); err != nil {
		return fmt.Errorf("make the way to %q: %w", s.Path, err)
	}
	if s.Kind == stepLink {
		if err := os.Symlink(s.Target, newRoot+s.Path); err != nil {
			return fmt.Errorf("make link %q: %w", s.Path, err)
		}
		return nil
	}
	return bind(s, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}

func bind(s step, attrs uint64) error {
	target := newRoot + s.Path
	var err error
	if s.Kind == stepDir {
		err = os.MkdirAll(target, 0o755)
	} else {
		err = os.WriteFile(target, nil, 0o444)
	}
	if err != nil {
		return fmt.Errorf("make a place for %q: %w", s.Path, err)
	}
	if err := unix.Mount(oldRoot+s.Path, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %q: %w", s.Path, err)
	}
	return setAttrs(s.Path, target, attrs)
}

// setAttrs makes a bind and what is mounted below it read-only and so on; on
// kernels before 5.12 the bind itself alone.
func setAttrs(name, target string, attrs uint64) error {
	err := unix.MountSetattr(unix.AT_FDCWD, target, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attrs})
	if err == nil {
		return nil
	}
	if !errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("make %q read-only: %w", name, err)
	}
	flags := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_NOSUID)
	if attrs&unix.MOUNT_ATTR_RDONLY != 0 {
		flags |= unix.MS_RDONLY
	}
	if attrs&unix.MOUNT_ATTR_NODEV != 0 {
		flags |= unix.MS_NODEV
	}
	if err := unix.Mount("", target, "", flags, ""); err != nil {
		return fmt.Errorf("make %q read-only: %w", name, err)
	}
	return nil
}

// moveIn leaves the staging root and everything in it behind.
func moveIn() error {
	if err := unix.Mount("", newRoot, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
		return fmt.Errorf("make the new root read-only: %w", err)
	}
	if err := unix.Chdir(newRoot); err != nil {
		return fmt.Errorf("enter the new root: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot into the new root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	return unix.Chdir("/")
}

func mountTmpfs(at, options string, flags uintptr) error {
	if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|flags, options); err != nil {
		return fmt.Errorf("mount a tmpfs at %q: %w", at, err)
	}
	return nil
}
