"""Runs programs, each in a forked child behind a filter: the steps of ChildFilter.

argv: the filter as JSON, then programs' paths. The control socket is descriptor
3: per program one packet with its number and the listener, answered by a byte.
Prints one JSON line per program: [path, wait status, last line of its standard error].
"""

import array
import base64
import ctypes
import json
import os
import resource
import signal
import socket
import struct
import sys

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, SECCOMP_SET_MODE_FILTER = 1, 38, 1
NR_SECCOMP = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
libc = ctypes.CDLL(None, use_errno=True)


class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def seccomp(flags, program):
    got = libc.syscall(NR_SECCOMP, SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(Program(len(program) // 8, program)))
    if got < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return got


def confine(filter, control, number):
    program = bytearray(base64.b64decode(filter["Program"]))
    for at in filter["PIDSlots"]:
        struct.pack_into("=I", program, at, os.getpid())
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    listener = seccomp(filter["Flags"], bytes(program))
    if filter["Flags"]:
        message = [struct.pack("=I", number)]
        control.sendmsg(message, [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener]))])
        os.close(listener)
        seccomp(0, base64.b64decode(filter["Seal"]))


def child(filter, control, number, path, err):
    code = 70
    try:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (10, 11))
        os.dup2(err, 2)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        text = open(path).read()
        confine(filter, control, number)
        os.read(3, 1)
        code = 1
        exec(compile(text, "<solution>", "exec"), {"__name__": "__main__"})
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    except BaseException as error:
        os.write(2, ("%s: %s" % (type(error).__name__, error)).encode("utf-8", "replace")[:200])
    finally:
        sys.stdout.flush()
        os._exit(code)


def main():
    import mpmath, numpy, plotly.express, plotly.figure_factory, plotly.graph_objects, plotly.subplots, sympy, sympy.stats  # noqa: F401, E401

    filter = json.loads(sys.argv[1])
    control = socket.socket(fileno=3)
    for number, path in enumerate(sys.argv[2:]):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            child(filter, control, number, path, write)
        os.close(write)
        words = b""
        while part := os.read(read, 1 << 16):
            words += part
        os.close(read)
        status = os.waitpid(pid, 0)[1]
        print(json.dumps([path, status, words.decode("utf-8", "replace")[-300:]]), flush=True)


main()
