"""What a child gives up by itself after the fork, before it reads anything."""

import ctypes
import fcntl
import os
import resource
import signal
import threading

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
LAST_CAPABILITY = 63
OPEN_FILES = 64

libc = ctypes.CDLL(None, use_errno=True)
# A function is looked up when it is first named: once, not in each child.
_prctl, capset, mount, setns, syscall = libc.prctl, libc.capset, libc.mount, libc.setns, libc.syscall
word = ctypes.c_ulong  # what a system call's argument is


def fail():
    """Raises what the C library's last call failed with."""
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number))


def prctl(option, value):
    return _prctl(option, word(value), 0, 0, 0)


def hide_from_neighbours():
    """No process of the same uid may read or trace this one or its children."""
    prctl(PR_SET_DUMPABLE, 0)


def enclose(uid, parent, fds, without):
    """Own descriptors, own session, own uid, no rights, no core, bounded files.

    ``without`` is for tests, which see what comes of a child that keeps all that."""
    control, stdin, stdout, stderr = fds
    for place, fd in enumerate(_above(8, (stdin, stdout, stderr, control))):
        os.dup2(fd, place, inheritable=place < 3)
    if "rlimits" not in without:
        for which, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, OPEN_FILES)):
            resource.setrlimit(which, (most, most))
    if "clean-start" not in without:
        _renounce(uid, parent)
    elif prctl(PR_SET_NO_NEW_PRIVS, 1) != 0:  # the walls after this one need it
        fail()
    threading.stack_size(8 << 20)


def _renounce(uid, parent):
    """All that a child has from the zygote and is not to have."""
    os.closerange(4, 1 << 16)
    os.setsid()
    if uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    drop_capabilities()
    if prctl(PR_SET_NO_NEW_PRIVS, 1) != 0:
        fail()
    prctl(PR_SET_DUMPABLE, 0)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def empty_bounding_set():
    """Nothing that is executed can have a capability. For the zygote, which executes
    nothing: its children are born so."""
    for cap in range(LAST_CAPABILITY + 1):
        if prctl(PR_CAPBSET_DROP, cap) != 0:
            break


def own_uids(files):
    """Whether children can have uids of their own: root alone can give them, and
    the interpreter's files must be open to others for what is imported late."""
    if os.geteuid() != 0:
        return False
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            for path in files:
                open(path).close()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def _above(floor, fds):
    """Copies of the descriptors that no dup2 to a low number can overwrite."""
    return [fcntl.fcntl(fd, fcntl.F_DUPFD, floor) for fd in fds]


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def drop_capabilities():
    """Empties the permitted, effective and inheritable sets."""
    header = _Header(0x20080522, 0)
    if capset(ctypes.byref(header), (ctypes.c_uint32 * 6)()) != 0:
        fail()
