"""What a child gives up by itself after the fork, before it reads anything."""

import ctypes
import os
import resource
import signal
import threading

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
LAST_CAPABILITY = 63
OPEN_FILES = 64

libc = ctypes.CDLL(None, use_errno=True)
word = ctypes.c_ulong  # what a system call's argument is


def fail():
    """Raises what the C library's last call failed with."""
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number))


def prctl(option, value):
    return libc.prctl(option, word(value), 0, 0, 0)


def hide_from_neighbours():
    """No process of the same uid may read or trace this one or its children."""
    prctl(PR_SET_DUMPABLE, 0)


def enclose(uid, parent, fds):
    """Own descriptors, own session, own uid, no rights, no core, bounded files."""
    control, stdin, stdout, stderr = fds
    for place, fd in enumerate(_above(8, (stdin, stdout, stderr, control))):
        os.dup2(fd, place, inheritable=place < 3)
    os.closerange(4, 1 << 16)
    os.setsid()
    for cap in range(LAST_CAPABILITY + 1):
        if prctl(PR_CAPBSET_DROP, cap) != 0:
            break
    for which, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, OPEN_FILES)):
        resource.setrlimit(which, (most, most))
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
    threading.stack_size(8 << 20)


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
    import fcntl

    return [fcntl.fcntl(fd, fcntl.F_DUPFD, floor) for fd in fds]


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def drop_capabilities():
    """Empties the permitted, effective and inheritable sets."""
    header = _Header(0x20080522, 0)
    if libc.capset(ctypes.byref(header), (ctypes.c_uint32 * 6)()) != 0:
        fail()
