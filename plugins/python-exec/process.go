package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// process is a running interpreter.
type process struct {
	pid    int
	userNS bool            // it is in a user namespace of its own
	walls  []sandbox.Wall  // around its children
	kill   func()          // ends it and all its descendants; safe to call again
	done   <-chan struct{} // closed when it and they have ended
}

// ground is where zygotes are started: an interpreter and what the host offers
// to wall it in. It does not change.
type ground struct {
	cfg   settings
	path  string // of the interpreter
	about survey
	offer sandbox.Offer
	less  lessened
	plan  childPlan

	folds *folds // nil: children have no control groups
}

// stackBytes is the stack of the interpreter: parsing deep but legal texts
// needs it.
const stackBytes = 64 << 20

// newGround looks at the interpreter and at the host. The warnings name the
// walls that cannot be had.
func newGround(ctx context.Context, cfg settings, less lessened) (ground, []string, error) {
	g := ground{cfg: cfg, less: less}
	var err error
	if g.path, err = cfg.interpreter(); err != nil {
		return g, nil, err
	}
	if g.about, err = surveyInterpreter(ctx, g.path, cfg.environment()); err != nil {
		return g, nil, err
	}
	g.offer = sandbox.Probe()
	if less.apart == byGroup { // as on a host that has no namespaces to give
		g.offer.Mechanism, g.offer.Namespaces, g.offer.Pivot, g.offer.Why = "", nil, false, "left out"
	}
	g.offer.Notify = g.offer.Notify && !less.silent
	g.planChildren()
	launch, err := g.launch(nil)
	if err != nil {
		return g, nil, err
	}
	walls := g.walls(launch.Walls())
	if err := requireWalls(walls, cfg.Require); err != nil {
		return g, nil, err
	}
	return g, missing(walls), nil
}

// missing lists in words the walls that were asked for and do not stand whole.
func missing(walls []sandbox.Wall) []string {
	var list []string
	for _, w := range walls {
		switch {
		case !w.InForce && w.Why != "":
			list = append(list, fmt.Sprintf("wall %s does not stand around programs: %s", w.Name, w.Why))
		case w.InForce && w.Why != "":
			list = append(list, fmt.Sprintf("wall %s: %s", w.Name, w.Why))
		}
	}
	return list
}

// launch plans the interpreter's start with the given descriptors from 2 on.
func (g ground) launch(files []*os.File) (sandbox.Launch, error) {
	boot, err := bootText()
	if err != nil {
		return sandbox.Launch{}, err
	}
	spec := sandbox.Spec{
		Path: g.path, Args: []string{g.path, "-I", "-B", "-X", "utf8", "-c", boot},
		Env: g.cfg.environment(), Dir: "/",
		Namespaces: sandbox.AllNamespaces(), ReadOnly: g.about.readOnly(g.path), TmpBytes: g.cfg.ScratchBytes,
		Rlimits: []sandbox.Rlimit{
			{Resource: unix.RLIMIT_STACK, Soft: stackBytes, Hard: stackBytes},
			// Two for each child, and its own.
			{Resource: unix.RLIMIT_NOFILE, Soft: 3 * mostChildren, Hard: 3 * mostChildren},
		},
		// To give each child a uid and namespaces of its own, and to end what
		// it leaves behind.
		DropCaps: true, KeepCaps: []sandbox.Cap{unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_SETPCAP, unix.CAP_KILL},
		Seccomp: !g.less.lacks(wallSeccomp),
	}
	if !g.less.lacks(wallLandlock) {
		spec.Landlock = &sandbox.Domain{LeaveFiles: true} // it mounts; children lose paths by themselves
	}
	if g.offer.Mechanism != "" && g.plan.Apart != byUID {
		spec.KeepCaps = append(spec.KeepCaps, unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT)
	}
	if g.less.lacks(wallRoot) {
		spec.ReadOnly = nil
	}
	if len(files) > 0 {
		spec.Stderr, spec.Files = files[0], files[1:]
	}
	launch, err := sandbox.Plan(spec, g.offer)
	if err != nil {
		return launch, fmt.Errorf("plan the walls around the interpreter: %w", err)
	}
	return launch, nil
}

// start starts an interpreter behind the walls.
func (g ground) start(sock, bundle, stderr *os.File) (*process, error) {
	launch, err := g.launch([]*os.File{stderr, sock, bundle})
	if err != nil {
		return nil, err
	}
	p, err := launch.Start()
	if err != nil {
		return nil, fmt.Errorf("start the interpreter: %w", err)
	}
	return &process{
		userNS: g.offer.Mechanism == sandbox.ByUserNamespace, pid: p.PID(), kill: p.Kill, done: p.Done(), walls: g.walls(p.Walls()),
	}, nil
}

// socketPair makes two connected sockets, closed on exec.
func socketPair(kind int) (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs"), nil
}

// packetConn turns a socket into a connection and closes the file.
func packetConn(file *os.File) (*net.UnixConn, error) {
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("make a connection: %w", err)
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, fmt.Errorf("make a connection: %T is no unix socket", conn)
	}
	return unixConn, nil
}

// oneDescriptor takes at most one descriptor out of a control message; any
// others are closed.
func oneDescriptor(oob []byte) (*os.File, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("read a control message: %w", err)
	}
	var file *os.File
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			if file != nil {
				unix.Close(fd)
				continue
			}
			file = os.NewFile(uintptr(fd), "pidfd") //nolint:gosec // a descriptor is not negative
		}
	}
	return file, nil
}
