"""A session: a process that stays, and its keeper.

The keeper (keep) is forked from the zygote, runs nothing, is the parent of all
of the session's processes and tells how each ended. The session proper (Session)
waits for orders. Before a cell it takes a snapshot of itself: the copy runs the
cell and is the session from then on, the original is stopped by the Go side and
goes on as if nothing had been when the copy dies. See sessionimage.go.

Once the first cell has run, nothing in such a process can be trusted: the Go
side decides what became of a cell, and cells are parsed, judged and compiled
elsewhere (cells.py). What is bound early here is so for the sake of programs
that spoil modules by accident.
"""

import atexit
import builtins
import fcntl
import gc
import hashlib
import io
import json
import linecache
import marshal
import math
import os
import resource
import signal
import socket
import struct
import sys
import types
import warnings

from _runtime import cells, child, copying, fence, figure, frames, trace, walls

CONTROL = 3
PR_SET_CHILD_SUBREAPER = 36
TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
MOST_TASKS = 1024

_decode, _encode = json.JSONDecoder().decode, json.JSONEncoder().encode


def keep(control, zygote):
    """The keeper's whole life: starts the session, then mourns. Returns its exit code."""
    frames.receive(control, b"G")  # the Go side has put this process into its control group
    walls.prctl(PR_SET_CHILD_SUBREAPER, 1)  # what cells leave behind is ended with this
    frames.send(control, b"W")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=os.dup(control)) as sock:
        message, fds, _, _ = socket.recv_fds(sock, 4096, 8)
    if len(fds) != 4:
        return 0
    if zygote.apart.copier.fork() == 0:
        begin(_decode(message.decode()), fds, zygote)
    for fd in fds:
        os.close(fd)
    while True:
        try:
            pid, status, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return 0
        frames.send(control, b"D", _encode({
            "pid": pid,
            "status": status,
            "cpu_us": int((usage.ru_utime + usage.ru_stime) * 1e6),
            "rss_bytes": usage.ru_maxrss * 1024,
        }).encode())


def begin(ask, fds, zygote):
    """The session's first process. Never returns."""
    code = 70
    try:
        place(fds)
        resource.setrlimit(resource.RLIMIT_STACK, (child.STACK_BYTES, child.STACK_BYTES))
        if ask["memory"]:
            top = zygote.base + ask["memory"] + child.LIMIT_SLACK
            child.limit(resource.RLIMIT_AS, top)
        gc.enable()
        zygote.reseed(used=False)
        atexit._clear()
        if not zygote.apart.scratch:
            child.limit(resource.RLIMIT_FSIZE, 0)
        session = Session(zygote, copying.Copier(copying.CLONE_PARENT))
        zygote.enter_paths()
        zygote.close_session_calls(CONTROL)
        frames.send(CONTROL, b"B", _encode({"checkpoint": False, "why": ""}).encode())
        session.serve()
    except child.frames.Closed:
        code = 0
    except BaseException as error:
        os.write(2, ("runtime: %s: %s\n" % (type(error).__name__, error)).encode("utf-8", "replace")[:1000])
    finally:
        os._exit(code)


def place(fds):
    """Puts control, stdin, stdout and stderr where they belong; other files stay open."""
    control, stdin, stdout, stderr = fds
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 8) for fd in (stdin, stdout, stderr, control)]
    for fd in fds:
        os.close(fd)
    for where, fd in enumerate(high):
        os.dup2(fd, where, inheritable=where < 3)
        os.close(fd)


def at_rest():
    """Whether a copy would miss nothing: no other thread, no timer that is set."""
    if len(sys._current_frames()) != 1:
        return False
    try:
        return not any(signal.getitimer(which)[0] for which in TIMERS)
    except OSError:
        return True  # where they cannot be asked they cannot be set


class Session:
    """The process that holds the state: one namespace, and what was granted."""

    def __init__(self, zygote, snapshot):
        self.shown, self.base, self.reseed, self.snapshot = zygote.shown, zygote.base, zygote.reseed, snapshot
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=CONTROL)
        self.granted = set()
        self.fence = {}
        self.running = False  # a step of a cell: an interrupt may be raised
        self.pending = False  # one came before the first step
        self.out, self.err = sys.stdout, sys.stderr
        module = types.ModuleType("__main__")
        module.__dict__.pop("__spec__", None)
        module.__dict__["math"] = math
        sys.modules["__main__"] = module
        self.namespace = module.__dict__
        signal.signal(signal.SIGINT, self.interrupt)

    def interrupt(self, number, frame):
        if self.running:
            raise KeyboardInterrupt
        self.pending = True

    def serve(self):
        """Waits for orders. Each brings four descriptors, for what comes of it."""
        while True:
            message, fds, _, _ = socket.recv_fds(self.sock, 4096, 8)
            if len(fds) != 4:
                raise frames.Closed
            ask = _decode(message.decode())
            copied, why = self.copy(ask)
            if copied > 0 or (ask["only"] and copied < 0):
                if copied < 0:
                    frames.send(fds[0], b"B", _encode({"checkpoint": False, "why": "declined"}).encode())
                for fd in fds:
                    os.close(fd)
                continue
            place(fds)
            self.pending = False  # an interrupt that came too late for an earlier cell
            if copied == 0:
                walls.prctl(walls.PR_SET_PDEATHSIG, signal.SIGKILL)  # of the keeper
            if ask["fork"]:
                self.reseed(used=True)
            elif ask["only"]:
                self.rehearse()
            frames.send(CONTROL, b"B", _encode({"checkpoint": copied == 0, "why": why}).encode())
            if not ask["fork"]:
                self.cell()

    def copy(self, ask):
        if not ask["checkpoint"]:
            return -1, "not wanted"
        if not at_rest():
            return -1, "a thread or a timer of an earlier cell is at work"
        copied = self.snapshot.take()
        return copied, "" if copied >= 0 else "the kernel refuses"

    def rehearse(self):
        """Goes through the steps of a cell while nobody waits for them: the pages that they
        write to are this copy's own then. What programs can hang on to steps is left alone."""
        collecting = gc.isenabled()
        gc.disable()
        try:
            if sys.gettrace() is None and sys.getprofile() is None:
                self.streams()
                order = _decode(PART["order"])
                about, (code, last) = unpack(PART["made"])
                exec(code, {"__builtins__": builtins, "x": last})
                _encode({"value": child.as_text(order), "notes": []}).encode()
                child.flush()
        except BaseException:
            pass  # a cell will meet it, and tell
        finally:
            if collecting:
                gc.enable()

    def cell(self):
        order = _decode(frames.receive(CONTROL, b"R").decode())
        cell = Cell(self, unpack(frames.receive(CONTROL, b"M")))
        self.limit(order)
        self.streams()
        self.shown.data = self.shown.error = None
        self.open(order["grants"])
        end = {"value": "", "has_value": False, "figure_bytes": 0, "notes": []}
        cell.attempt(cell.execute, self.namespace, order["value_wanted"])
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 1000))
        if cell.has_value and cell.error is None:
            end["value"] = cell.attempt(cell.text_of_value) or ""
            end["has_value"] = cell.error is None
        drawn = cell.picture(end)
        child.flush()
        resource.setrlimit(resource.RLIMIT_AS, (resource.getrlimit(resource.RLIMIT_AS)[1],) * 2)
        self.pending = False
        child.tell(CONTROL, cell, order, drawn, end)

    def limit(self, order):
        """Soft limits only: the next cell's may be higher."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        soften(resource.RLIMIT_CPU, order["cpu_seconds"] and order["cpu_seconds"] + int(used.ru_utime + used.ru_stime))
        soften(resource.RLIMIT_AS, order["memory"] and order["memory"] + self.base)
        soften(resource.RLIMIT_NPROC, order["tasks"])
        child.limit(resource.RLIMIT_FSIZE, order["scratch_bytes"])

    def streams(self):
        """A fresh standard input; output goes where it went, whatever a cell did to it."""
        if self.out.closed or self.err.closed:
            child.streams()
            self.out, self.err = sys.stdout, sys.stderr
        sys.stdout = sys.__stdout__ = self.out
        sys.stderr = sys.__stderr__ = self.err
        sys.stdin = sys.__stdin__ = io.TextIOWrapper(
            io.BufferedReader(io.FileIO(0, "r", closefd=False)), encoding="utf-8", errors="strict"
        )

    def open(self, grants):
        """What one cell was granted, functions that it defines may use in later ones."""
        more = not self.granted.issuperset(grants)
        self.granted.update(grants)
        if {"import:*", "builtin:*"} <= self.granted:
            self.namespace["__builtins__"] = builtins
            return
        if more:
            self.fence.update(fence.names(self.granted))
        self.namespace["__builtins__"] = self.fence


def soften(which, soft):
    """Sets a soft limit; 0: none but the hard one."""
    hard = resource.getrlimit(which)[1]
    if not soft:
        soft = hard
    elif hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    resource.setrlimit(which, (soft, hard))


def unpack(payload):
    """What cells.pack made."""
    body = payload[32:]
    if hashlib.sha256(body).digest() != payload[:32]:
        raise ValueError("the code is not the code that was judged")
    size = struct.unpack(">I", body[:4])[0]
    return _decode(body[4:4 + size].decode()), marshal.loads(body[4 + size:])


# What is gone through in a rehearsal: see Session.rehearse.
PART = {
    "order": _encode({"grants": ["import:*"], "value_wanted": True, "cpu_seconds": 1, "memory": 1 << 30}),
    "made": cells.pack(
        {"name": "<cell 0>", "text": "x", "bound": ["x"], "warnings": []},
        (compile("y = [x]\ny", "<runtime>/session.py", "exec"), compile("1", "<runtime>/session.py", "eval")),
    ),
}


class Cell(child.Program):
    """A program whose code was made elsewhere and whose namespace stays."""

    def __init__(self, session, unpacked):
        about, self.codes = unpacked
        super().__init__(about["text"], about["text"].split("\n"), None, [])
        self.session, self.bound = session, about["bound"]
        self.warned = about["warnings"]
        trace.name_text(about["name"])
        linecache.cache[about["name"]] = (
            len(self.text), None, [line.rstrip("\r") + "\n" for line in self.lines], about["name"]
        )

    def compiled(self):
        for text, category, line in self.warned:
            kind = getattr(builtins, category, SyntaxWarning)
            sys.stderr.write(warnings.formatwarning(text, kind, trace.FILENAME, line))
        return self.codes

    def attempt(self, step, *args):
        try:
            self.session.running = True
            if self.session.pending:
                self.session.pending = False
                raise KeyboardInterrupt
            return step(*args)
        except SystemExit as error:
            self.session.running = False
            self.leave(error)
        except BaseException as error:
            self.session.running = False
            self.fail(error)
        finally:
            self.session.running = False
        return None

    def text_of_value(self):
        text = child.as_text(self.value)
        text.encode("utf-8")  # half a surrogate pair is an error here, as in the training tool
        return trace.clip(text, child.VALUE_BYTES)

    def picture(self, end):
        """The figure's JSON or None; a figure that cannot be written is a note."""
        try:
            self.session.running = True
            return figure.pick(self.session.shown, self.value, self.bound, self.session.namespace)
        except BaseException as error:
            self.session.running = False
            end["notes"].append("the figure was left out: %s: %s" % (type(error).__name__, trace.message(error)[:500]))
            return None
        finally:
            self.session.running = False
