"""Copies of the process as it stands, by the system call.

os.fork also runs hooks, which reseed random, forget threads and make locks anew:
a process with one thread needs none of that, each costs a child pages, and a
session's copy must not differ. What is done here for the C library is that it
keeps knowing its thread's number.
"""

import ctypes
import os
import platform
import signal

from _runtime import walls

PR_GET_TID_ADDRESS = 40
CLONE_PARENT, CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID = 0x8000, 0x200000, 0x1000000
# The call's number, and where its fourth argument goes among the last two.
CLONE = {"x86_64": (56, 0), "aarch64": (220, 1)}


class Copier:
    """Makes copies; ``flags`` say whose child they are. For a process with one thread."""

    def __init__(self, flags=0):
        number, shift = CLONE[platform.machine()]
        flags |= signal.SIGCHLD
        tid = ctypes.c_void_p()
        if walls.libc.prctl(PR_GET_TID_ADDRESS, ctypes.byref(tid), 0, 0, 0) == 0 and tid.value:
            flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID  # the C library keeps the thread's number there
        word = ctypes.c_ulong
        last = [tid.value or 0, 0]
        if shift:
            last.reverse()
        self.args = [ctypes.c_long(number), word(flags), word(0), word(0), word(last[0]), word(last[1])]
        self.call = ctypes.PyDLL(None, use_errno=True).syscall
        self.call.restype = ctypes.c_long

    def take(self):
        """The copy's number in the original, 0 in the copy, -1: there is none."""
        return self.call(*self.args)

    def fork(self):
        """take, with an OSError where there is none."""
        pid = self.take()
        if pid < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return pid
