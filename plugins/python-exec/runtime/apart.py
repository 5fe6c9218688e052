"""How children are kept apart, and how what one leaves behind is ended.

As root each child has a uid of its own: it can touch no other, and all that
has this uid ends with it. Without root each child has a PID namespace of its
own: it sees no other, and all that is in there ends with its init. Where neither
can be had, its process group and its orphans are ended.
"""

import ctypes
import errno
import os
import signal
import socket

from _runtime import walls

CLONE_NEWPID = 0x20000000
PR_SET_CHILD_SUBREAPER = 36


def choose(files, wanted):
    """The way that is wanted, or else the best that this process can go. To be
    called before any import of weight, since the way by namespaces forks."""
    if wanted in ("", Uids.name) and walls.own_uids(files):
        return Uids()
    if wanted in ("", Namespaces.name):
        try:
            return Namespaces()
        except OSError:
            pass
    return Groups()


class Uids:
    """By uid: the Go side numbers them."""

    name = "uid"

    def fork(self, uid):
        parent = os.getpid()
        return os.fork(), uid, parent

    def sweep(self, pid, uid, known):
        """Ends every process of that uid and no other: as root one would hit
        all, and with the real uid still 0 also children that are about to
        change theirs."""
        if not uid:
            return
        os.setresuid(uid, uid, 0)
        try:
            os.kill(-1, signal.SIGKILL)
        except OSError as error:
            if error.errno != errno.ESRCH:
                raise
        finally:
            os.setresuid(0, 0, 0)
            walls.prctl(walls.PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of uid clears it


class Namespaces:
    """By PID namespace: a small keeper makes their inits, since a fork of it is
    cheap and a fork of the zygote is not."""

    name = "pid namespace"

    def __init__(self):
        self.own = os.pidfd_open(os.getpid())
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            try:
                ours.close()
                keep(theirs)
            finally:
                os._exit(0)
        theirs.close()
        self.keeper = ours
        init = self.init()
        try:
            enter(init)  # to see that it works
            enter(self.own)
        finally:
            self.sweep(0, init, ())

    def init(self):
        """A descriptor of the init of a new namespace."""
        self.keeper.sendall(b"+")
        number = int.from_bytes(self.keeper.recv(4), "big")
        if not number:
            raise OSError(errno.EPERM, "no PID namespace")
        return os.pidfd_open(number)

    def fork(self, uid):
        init = self.init()
        enter(init)
        try:
            pid = os.fork()
        finally:
            if os.getppid() or os.getpid() == 1:  # the zygote, not the child
                enter(self.own)
        return pid, init, 0

    def sweep(self, pid, init, known):
        signal.pidfd_send_signal(init, signal.SIGKILL)
        os.close(init)


def enter(pidfd):
    """Lets the next forks be born in the PID namespace of that process."""
    if walls.libc.setns(pidfd, CLONE_NEWPID) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def keep(sock):
    """The keeper: for each byte that comes, an init in a PID namespace of its own.

    Neither is hidden as the zygote is: to enter a namespace by its init is to
    look into the init, and children cannot name the keeper.
    """
    walls.prctl(walls.PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for an init
    own = os.pidfd_open(os.getpid())
    while sock.recv(1):
        number = 0
        if walls.libc.unshare(CLONE_NEWPID) == 0:
            number = os.fork()
            if number == 0:
                rest()
            enter(own)
        sock.sendall(number.to_bytes(4, "big"))


def rest():
    """An init: outlives its namespace's programs and lets them be reaped."""
    walls.prctl(walls.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.closerange(0, 1 << 16)
    walls.drop_capabilities()
    while True:
        signal.pause()


class Groups:
    """By process group, and by parentage: orphans become the zygote's own."""

    name = "process group"

    def __init__(self):
        walls.prctl(PR_SET_CHILD_SUBREAPER, 1)

    def fork(self, uid):
        parent = os.getpid()
        return os.fork(), 0, parent

    def sweep(self, pid, mark, known):
        try:
            os.killpg(pid, signal.SIGKILL)
        except OSError:
            pass
        for _ in range(64):
            orphans = self.children() - known
            if not orphans:
                return
            for orphan in orphans:
                try:
                    os.kill(orphan, signal.SIGKILL)
                    os.waitpid(orphan, 0)
                except OSError:
                    pass

    @staticmethod
    def children():
        try:
            with open("/proc/self/task/%d/children" % os.getpid()) as file:
                return {int(word) for word in file.read().split()}
        except OSError:
            return set()
