"""How children are kept apart, and how what one leaves behind is ended.

The best way is a PID, an IPC and a mount namespace for each child: it sees no
other, its /tmp is its own, and all that is in there ends with the namespace's
init. Beside that, as root, each child has a uid of its own. Where there are no
namespaces the uid alone must do, and without root its process group and its
orphans are ended.
"""

import ctypes
import errno
import mmap
import os
import signal
import socket

from _runtime import copying, mounts, walls

CLONE_VM, CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID = 0x00000100, 0x00020000, 0x08000000, 0x20000000
STACKS, STACK_BYTES = 1024, 8192  # of inits: more than there can be children
PR_SET_CHILD_SUBREAPER = 36


def choose(files, plan):
    """The way that the plan wants, or else the best that this process can go. To
    be called before any import of weight, since the way by namespaces forks."""
    wanted = plan["apart"]
    uids = walls.own_uids(files)
    if wanted in ("", Namespaces.name):
        try:
            return Namespaces(plan, uids)
        except OSError:
            pass
    if wanted in ("", Uids.name) and uids:
        return Uids()
    return Groups()


class Uids:
    """By uid alone: the Go side numbers them."""

    name = "uid"
    uids = True
    scratch = False

    def __init__(self):
        self.copier = copying.Copier()

    def fork(self, uid):
        parent = os.getpid()
        return self.copier.fork(), uid, parent

    def sweep(self, pid, uid, others):
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
    """By namespaces: a small keeper makes their inits, since a fork of it is
    cheap and a fork of the zygote is not."""

    name = "pid namespace"
    scratch = True

    def __init__(self, plan, uids):
        self.uids = uids
        self.hide_tmp = mounts.private_tmp(plan["scratch_bytes"], plan["under_tmp"])
        self.own = os.pidfd_open(os.getpid())
        self.copier = copying.Copier()
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            try:
                ours.close()
                keep(theirs)
            finally:
                os._exit(0)
        theirs.close()
        self.keeper = ours
        self.trial()

    def trial(self):
        """One child that does nothing, to see that it works."""
        pid, init, _ = self.fork(0)
        if pid == 0:
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        self.sweep(pid, init, {})
        if status:
            raise OSError(errno.EPERM, "no namespaces")

    def init(self):
        """A descriptor of the init of new namespaces."""
        self.keeper.sendall(b"+")
        number = int.from_bytes(self.keeper.recv(4), "big")
        if not number:
            raise OSError(errno.EPERM, "no namespaces")
        return os.pidfd_open(number)

    def fork(self, uid):
        init = self.init()
        try:
            enter(init, CLONE_NEWPID)
            pid = self.copier.fork()
        except OSError:
            enter(self.own, CLONE_NEWPID)
            self.sweep(0, init, {})
            raise
        if pid:
            enter(self.own, CLONE_NEWPID)
            return pid, init, 0
        try:
            enter(init, CLONE_NEWNS | CLONE_NEWIPC)
            self.hide_tmp()
            os.chdir("/")
        except BaseException as error:
            os.write(2, ("runtime: a child's namespaces: %s\n" % error).encode("utf-8", "replace"))
            os._exit(71)
        return pid, init, 0

    def sweep(self, pid, init, others):
        try:
            signal.pidfd_send_signal(init, signal.SIGKILL)
        except ProcessLookupError:
            pass  # somebody outside ended it, and with it the namespace
        finally:
            os.close(init)


def enter(pidfd, kinds):
    """Joins namespaces of that process; of its PID namespace the next forks are born."""
    if walls.setns(pidfd, kinds) != 0:
        walls.fail()


def keep(sock):
    """The keeper: for each byte that comes, an init in namespaces of its own.

    An init is a process that shares the keeper's memory and sleeps: it has
    nothing to copy and runs nothing. It outlives its namespace's programs and
    lets them be reaped. Neither is hidden as the zygote is: to enter a namespace
    by its init is to look into the init, and who has fewer rights cannot.
    """
    walls.prctl(walls.PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for an init
    os.dup2(sock.detach(), 3)
    os.closerange(4, 1 << 16)
    sleep = ctypes.cast(walls.libc.pause, ctypes.c_void_p)
    stacks = mmap.mmap(-1, STACKS * STACK_BYTES)
    base = ctypes.addressof(ctypes.c_char.from_buffer(stacks))
    flags = CLONE_VM | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | signal.SIGCHLD
    turn = 0
    while os.read(3, 1):
        turn = (turn + 1) % STACKS
        number = walls.libc.clone(sleep, ctypes.c_void_p(base + (turn + 1) * STACK_BYTES), flags, None)
        os.write(3, max(number, 0).to_bytes(4, "big"))


class Groups:
    """By process group, and by parentage: orphans become the zygote's own."""

    name = "process group"
    uids = False
    scratch = False

    def __init__(self):
        walls.prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.copier = copying.Copier()

    def fork(self, uid):
        parent = os.getpid()
        return self.copier.fork(), 0, parent

    def sweep(self, pid, mark, others):
        try:
            os.killpg(pid, signal.SIGKILL)
        except OSError:
            pass
        for _ in range(64):
            orphans = self.children() - others.keys()
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
