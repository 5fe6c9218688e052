"""What a child gives up by itself after the fork, before it reads anything."""

import ctypes
import os
import resource
import signal
from functools import partial

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
LAST_CAPABILITY = 63
OPEN_FILES = 64

libc = ctypes.CDLL(None, use_errno=True)
# A function is looked up when it is first named: once, not in each child.
_prctl, capset, mount, setns, syscall, wait4 = libc.prctl, libc.capset, libc.mount, libc.setns, libc.syscall, libc.wait4
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


def enclosing(without):
    """A function that has a child give up what it has from the zygote: descriptors,
    session, uid, rights, core, files without bound.

    All that does not depend on the child is made ready here, and nothing is looked up
    by name: each name, function and number of its own costs a child a page.
    ``without`` is for tests, which see what comes of a child that keeps all that."""
    clean = "clean-start" not in without
    before = [partial(resource.setrlimit, which, (most, most))
              for which, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, OPEN_FILES))
              if "rlimits" not in without]
    after = [partial(_prctl, PR_SET_NO_NEW_PRIVS, word(1), 0, 0, 0)]  # the walls after this one need it
    if clean:
        before += [partial(os.closerange, 4, 1 << 16), partial(os.setsid)]
        after = [*dropping_capabilities(), *after, partial(_prctl, PR_SET_DUMPABLE, word(0), 0, 0, 0),
                 partial(_prctl, PR_SET_PDEATHSIG, word(signal.SIGKILL), 0, 0, 0)]
    dup2, setgroups, setresgid, setresuid, getppid, leave = os.dup2, os.setgroups, os.setresgid, os.setresuid, os.getppid, os._exit

    def enclose(uid, parent, fds):
        control, stdin, stdout, stderr = fds  # none of which is below 4: the zygote keeps those
        dup2(stdin, 0)
        dup2(stdout, 1)
        dup2(stderr, 2)
        dup2(control, 3, False)
        for step in before:
            step()
        if clean and uid:
            setgroups([])
            setresgid(uid, uid, uid)
            setresuid(uid, uid, uid)
        for step in after:
            if step() != 0:
                fail()
        if clean and getppid() != parent:
            leave(0)

    return enclose


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


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def dropping_capabilities():
    """The calls that empty the permitted, effective and inheritable sets."""
    header = _Header(0x20080522, 0)
    return [partial(capset, ctypes.byref(header), (ctypes.c_uint32 * 6)())]
