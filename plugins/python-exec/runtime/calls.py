"""The last wall of a child: which system calls it can make.

The Go side prepares the programs (internal/sandbox, ChildFilter, which also
says what the steps are); they are installed here, after everything else that
the child gives up and before it reads anything of a submission.
"""

import base64
import ctypes
import os
import socket
import struct
from functools import partial

from _runtime import frames, walls

SET_MODE_FILTER = 1


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


def closing(plan):
    """A function that installs a plan's "calls" and says that the child is warm, with
    the listener beside the frame if there is one; made ready as walls.enclosing tells."""
    if not plan:
        return lambda control: frames.send(control, b"W")
    install = installing(plan["number"], plan["program"], plan["flags"])
    install_seal = installing(plan["number"], plan["seal"] or "", 0)
    code, slots, flags = install.code, plan["pid_slots"] or [], plan["flags"]
    put, fd, getpid, close, fail = struct.Struct("=I").pack_into, struct.Struct("=i").pack, os.getpid, os.close, walls.fail
    kind = socket.AF_UNIX, socket.SOCK_STREAM, 0  # told, not asked for: it could not be later
    make, warmed = socket.SocketType, frames.head(b"W", 0)

    def close_calls(control):
        pid = getpid()
        for at in slots:
            put(code, at, pid)
        sock = make(*kind, control)
        listener = install()
        if listener < 0:
            fail()
        if not flags:
            frames.send(control, b"W")
        else:
            sock.sendmsg([warmed], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fd(listener))])
            close(listener)
            if install_seal() != 0:
                fail()
        sock.detach()

    return close_calls


def installing(number, program, flags):
    """The call that installs a program; its ``code`` are the instructions."""
    program = base64.b64decode(program)
    code = (ctypes.c_char * len(program)).from_buffer_copy(program)
    prog = _Program(len(program) // 8, ctypes.addressof(code))
    install = partial(walls.syscall, walls.word(number), walls.word(SET_MODE_FILTER), walls.word(flags), ctypes.byref(prog))
    install.code = code
    return install
