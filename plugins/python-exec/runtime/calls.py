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

from _runtime import frames, walls

SET_MODE_FILTER = 1


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


class Filter:
    """A plan's "calls", made ready in the zygote."""

    def __init__(self, plan):
        self.number = plan["number"]
        self.program = base64.b64decode(plan["program"])
        self.slots = plan["pid_slots"] or []
        self.flags = plan["flags"]
        self.seal = base64.b64decode(plan["seal"] or "")  # none without a listener

    def close(self, control):
        """Installs the filter and says that the child is warm, with the
        listener beside the frame if there is one."""
        program = bytearray(self.program)
        for at in self.slots:
            struct.pack_into("=I", program, at, os.getpid())
        sock = socket.socket(fileno=control)  # asks what it is, which it could not later
        listener = self.install(program, self.flags)
        if self.flags:
            socket.send_fds(sock, [frames.head(b"W", 0)], [listener])
            os.close(listener)
            self.install(bytearray(self.seal), 0)
        else:
            frames.send(control, b"W")
        sock.detach()

    def install(self, program, flags):
        code = (ctypes.c_char * len(program)).from_buffer(program)
        prog = _Program(len(program) // 8, ctypes.addressof(code))
        got = walls.syscall(walls.word(self.number), walls.word(SET_MODE_FILTER), walls.word(flags), ctypes.byref(prog))
        if got < 0:
            walls.fail()
        return got


class Open:
    """In place of a Filter where there is none."""

    def close(self, control):
        frames.send(control, b"W")


def ready(plan):
    return Filter(plan) if plan else Open()
