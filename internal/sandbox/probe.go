package sandbox

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Offer is what a kernel and a user have to give.
type Offer struct {
	UID        int
	Permitted  uint64      // capabilities that this process holds, as a mask
	Mechanism  Mechanism   // how namespaces are had; empty: not at all
	Namespaces []Namespace // those that can be had
	FreshProc  bool        // a new /proc can be mounted in a new PID namespace
	Pivot      bool        // a root of one's own can be made
	Why        string      // why something of that is missing

	Filter     bool   // system call filters
	Notify     bool   // filters with user notification
	SeccompWhy string // why one of these is missing

	Landlock    int    // the ABI, 0: none
	LandlockWhy string // why there is none

	Groups    int    // version of the control groups that this process can make: 1, 2 or 0
	GroupsWhy string // why it cannot, or which controller is missing
}

// Mechanism is how namespaces are had.
type Mechanism string

// The mechanisms.
const (
	ByPrivilege     Mechanism = "CAP_SYS_ADMIN"
	ByUserNamespace Mechanism = "user namespace"
)

// Probe finds out what can be had by trying it in short-lived processes, some
// ten milliseconds each; a caller asks once. The calling program's main must
// have called [Shim].
func Probe() Offer {
	of := Offer{UID: os.Geteuid(), Permitted: permitted()}
	offerFilters(&of)
	offerGroups(&of)
	offerLandlock(&of)
	var why []string
	for _, m := range []Mechanism{ByPrivilege, ByUserNamespace} {
		if m == ByPrivilege && of.Permitted&(1<<unix.CAP_SYS_ADMIN) == 0 {
			continue
		}
		if tryAll(&of, m) {
			return of
		}
		why = append(why, string(m)+": "+of.Why)
	}
	of.Why = strings.Join(why, "; ")
	return of
}

// tryAll tries every namespace at once, and one by one when that fails.
func tryAll(of *Offer, m Mechanism) bool {
	r, err := try(m, AllNamespaces())
	if err == nil {
		of.Mechanism, of.Namespaces = m, AllNamespaces()
		of.FreshProc, of.Pivot, of.Why = r.FreshProc, r.Pivot, r.Why
		return true
	}
	of.Why = err.Error()
	for _, n := range AllNamespaces() {
		r, err := try(m, []Namespace{n})
		if err != nil {
			continue
		}
		of.Mechanism = m
		of.Namespaces = append(of.Namespaces, n)
		of.Pivot = of.Pivot || r.Pivot
	}
	return of.Mechanism != ""
}

func try(m Mechanism, ns []Namespace) (report, error) {
	return tryOrder(order{Namespaces: ns, UserNS: m == ByUserNamespace, FirstFD: 3, Probe: probeNamespaces})
}

func tryOrder(o order) (report, error) {
	l := Launch{order: o}
	p, reports, err := l.spawn()
	if err != nil {
		return report{}, err
	}
	<-p.Done()
	if len(reports) != 1 || reports[0].Error != "" {
		return report{}, fmt.Errorf("try %s %v: %v", o.Probe, o.Namespaces, reports)
	}
	return reports[0], nil
}

// probeKind is what a short-lived shim is to try.
type probeKind string

const (
	probeNamespaces probeKind = "namespaces"
	probeFilters    probeKind = "filters"
)

func offerFilters(of *Offer) {
	r, err := tryOrder(order{FirstFD: 3, Probe: probeFilters})
	of.Filter, of.Notify, of.SeccompWhy = r.Filter, r.Notify, r.Why
	if err != nil {
		of.SeccompWhy = err.Error()
	}
}

// probeInside runs in the shim and finds out what it is asked for.
func probeInside(o *order) report {
	if o.Probe == probeFilters {
		return probeSeccomp()
	}
	for _, n := range o.Namespaces {
		if n == Mount {
			return probeMounts(len(o.Namespaces) > 1)
		}
	}
	return report{Ready: true}
}

func probeMounts(proc bool) report {
	r := report{Ready: true}
	o := &order{Namespaces: []Namespace{Mount}, Root: &rootOrder{TmpBytes: 1 << 16}}
	if err := raiseNamespaces(o); err != nil {
		return report{Error: err.Error()}
	}
	if proc {
		// Over the old one, so that what masks parts of that counts.
		err := mountProc("/proc")
		if r.FreshProc = err == nil; err != nil {
			r.Why = err.Error()
		}
	}
	err := raiseRoot(o)
	if r.Pivot = err == nil; err != nil {
		r.Why = err.Error()
	}
	return r
}

func permitted() uint64 {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return 0
	}
	return uint64(data[1].Permitted)<<32 | uint64(data[0].Permitted)
}
