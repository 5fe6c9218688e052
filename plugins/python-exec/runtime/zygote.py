"""The zygote: imports and warms everything once, then forks on command.

It runs trusted code only and never sees a submission. What it does when it is
warm is in forks.py, what the Go side does with it in zygote.go.
"""

import ctypes
import gc
import importlib.util
import json
import mmap
import os
import random
import resource
import socket
import sys
import threading
import time
import warnings

from _runtime import apart, calls, child, figure, forks, guard, modules, pages, paths, session, trace, walls

WARM_UP = """\
import math, cmath, decimal, fractions, statistics, itertools, functools, collections, dataclasses, enum
import datetime, textwrap, string, json, re, heapq, bisect, copy, typing, operator, pprint, calendar, array
import unicodedata, numbers, threading, concurrent.futures
datetime.datetime.strptime('2020-01-02', '%Y-%m-%d')
import mpmath, numpy as np, sympy as sp
import sympy.abc, sympy.stats, sympy.ntheory, sympy.geometry, sympy.combinatorics, sympy.physics.units, sympy.vector
from sympy.parsing.sympy_parser import parse_expr
import plotly.graph_objects as go
from plotly.subplots import make_subplots
import plotly.colors
x, y, n = sp.symbols('x y n'); f = sp.Function('f')
sp.pprint(sp.solve(x**2 - 2, x)); sp.solve([x + y - 1, x - y], [x, y]); sp.solveset(sp.sin(x), x)
sp.integrate(sp.exp(-x**2), (x, -sp.oo, sp.oo)); sp.integrate(x * sp.sin(x), x); sp.diff(sp.sin(x) * x, x)
sp.limit(sp.sin(x) / x, x, 0); sp.series(sp.exp(x), x, 0, 4); sp.dsolve(f(x).diff(x) - f(x), f(x))
sp.simplify((x**2 - 1) / (x - 1)); sp.factor(x**3 - 1); sp.factorint(360); sp.nsolve(sp.cos(x) - x, 1)
sp.summation(1 / n**2, (n, 1, sp.oo)); sp.Matrix([[1, 2], [3, 4]]).eigenvals(); sp.Matrix([[2, 1], [1, 2]]).inv()
sp.lambdify(x, sp.sin(x) + x**2, 'numpy')(np.linspace(0, 1, 3)); sp.lambdify(x, sp.sqrt(x), 'math')(4)
str(sp.latex(sp.Integral(x, x))); sp.pretty(sp.sqrt(x) / 2, use_unicode=True); parse_expr('x + 1'); sp.N(sp.pi, 30)
sp.isprime(97), sp.nextprime(100), sp.binomial(5, 2), sp.trigsimp(sp.sin(x)**2 + sp.cos(x)**2), sp.apart(1 / (x**2 - 1))
sp.Sum(n, (n, 1, 3)).doit(); sp.Piecewise((x, x > 0), (0, True)).subs(x, 1); sp.Eq(x, 1); sp.sympify('2*x')
mpmath.quad(mpmath.sin, [0, 1]); mpmath.findroot(lambda t: t**2 - 2, 1)
a = np.array([[2.0, 1.0], [1.0, 3.0]]); np.linalg.solve(a, [1, 2]); np.linalg.eig(a); np.linalg.svd(a); np.fft.fft([1, 2])
np.random.default_rng(1).normal(size=2); np.random.rand(2); np.polyfit([0, 1, 2], [0, 1, 4], 2); np.polynomial.Polynomial([1, 2])(1)
print(a, a.mean(), np.sin(a)); repr(a)
go.Figure(go.Scatter(x=[1, 2], y=np.array([3, 4]))).update_layout(title='t', xaxis_title='x').show()
go.Figure(go.Bar(x=['a'], y=[1])).show()
s = make_subplots(rows=1, cols=2); s.add_trace(go.Surface(z=a), row=1, col=1) if False else s.add_trace(go.Histogram(x=[1]), row=1, col=1); s.show()
go.Figure(go.Surface(z=a)).show(); go.Figure(go.Heatmap(z=a)).show(); go.Figure(go.Pie(labels=['a'], values=[1])).show()
go.Figure(go.Scatter3d(x=[1], y=[1], z=[1])).show()
"""


def warm(more):
    """Runs what programs run, so that no child pays for a first time; `more` is for libraries that were added."""
    out, sys.stdout = sys.stdout, open(os.devnull, "w")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(WARM_UP, "<runtime>/warm.py", "exec", dont_inherit=True), {"__name__": "warm"})
            for text in more:
                try:
                    exec(compile(text, "<runtime>/warm.py", "exec", dont_inherit=True), {"__name__": "warm"})
                except Exception as error:  # a library that is missing costs its own programs, not all others
                    os.write(2, ("runtime: warm up: %s: %s\n" % (type(error).__name__, error)).encode("utf-8", "replace")[:1000])
    finally:
        sys.stdout.close()
        sys.stdout = out


def generators():
    """Every random generator that is alive: all must differ between children."""
    import numpy

    kinds = (random.Random, numpy.random.RandomState, numpy.random.Generator)
    found = {id(numpy.random.mtrand._rand): numpy.random.mtrand._rand}
    for module in list(sys.modules.values()):
        for thing in list(getattr(module, "__dict__", {}).values()):
            if isinstance(thing, kinds):
                found[id(thing)] = thing
    for thing in gc.get_objects():
        if issubclass(type(thing), kinds):
            found[id(thing)] = thing
    return list(found.values())


def reseeder():
    """A function that seeds all of them anew from the kernel; ``used`` says that a program
    had them, and may have left them in any state."""
    import numpy

    def reseed(used):
        for one in alive if used else slow:
            if isinstance(one, random.Random) or isinstance(one, numpy.random.RandomState):
                one.seed()
            else:
                one.bit_generator.state = type(one.bit_generator)().state
        for where in () if used else words:
            ctypes.memmove(where, os.urandom(MT_BYTES), MT_BYTES)

    alive, slow, words = generators(), [], []
    for one in alive:
        if where := isinstance(one, numpy.random.RandomState) and state_of(one):
            words.append(where)
        else:
            slow.append(one)
    return reseed


ROOM = 48  # MiB of small objects: some more than the libraries fill
MT_BYTES = 624 * 4


def state_of(generator):
    """Where a Mersenne Twister of NumPy has its words, or 0: to write them takes a page,
    and its seed() more than all the others together. The layout is looked at, not believed.
    A seed comes first: it leaves no half of a pair of normal numbers behind."""
    generator.seed()
    try:
        where = generator._bit_generator.ctypes.state_address
    except AttributeError:
        return 0
    kind, words, _, has_gauss, _ = generator.get_state()
    if kind != "MT19937" or has_gauss or ctypes.string_at(where, MT_BYTES) != words.tobytes():
        return 0
    return where


def mapped():
    """The address space in use, to one page, found with the limit itself: /proc may be missing."""
    old = resource.getrlimit(resource.RLIMIT_AS)
    low, high = 0, 1 << 46
    if old[0] != resource.RLIM_INFINITY:
        high = old[0]
    page = mmap.PAGESIZE
    try:
        while high - low > page:
            middle = (low + high) // 2 // page * page
            resource.setrlimit(resource.RLIMIT_AS, (middle, old[1]))
            try:
                mmap.mmap(-1, page).close()
                high = middle
            except OSError:
                low = middle
    finally:
        resource.setrlimit(resource.RLIMIT_AS, old)
    return high


def resident():
    """The memory in use, in bytes, as a copy counts it: this process's own count began
    with that of the process which started it, whose memory it shared until then."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(theirs, b"%d" % resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        os._exit(0)
    text = os.read(ours, 32)
    os.waitpid(pid, 0)
    os.close(ours)
    os.close(theirs)
    return int(text) * 1024


class Zygote:
    """Makes all ready once, and is what each child begins with."""

    def __init__(self, sock, apart, plan, more, room):
        self.sock = sock
        self.room = room
        self.more = more
        self.apart = apart
        self.enter_paths = paths.entering(plan["paths"], apart.scratch)
        self.close_calls, self.close_session_calls = calls.closing(plan["calls"]), calls.closing(plan["session_calls"])
        self.shown = figure.Shown()
        without = plan["without"] or ()  # tests alone
        self.enclose = walls.enclosing(without)
        if "rlimits" in without:
            child.limit = lambda which, soft, hard=None: None

    def prepare(self):
        figure.install(self.shown)
        trace.install()
        modules.install()
        trace.bound_depth()
        warm(self.more)
        guard.install()
        walls.hide_from_neighbours()
        walls.empty_bounding_set()
        threading.stack_size(8 << 20)  # of the threads of programs
        self.reseed = reseeder()
        child.hide()
        on_pipes(child.streams)
        child.rehearse(self.shown)
        gc.collect()
        self.filled = pages.fill()
        pages.join(self.room)
        gc.freeze()
        gc.disable()  # until a program begins: the runtime's own steps leave nothing to find
        self.base = mapped()
        self.sock.sendall(json.dumps({
            "python": sys.version.split()[0],
            "base_bytes": self.base,
            "libraries": versions(),
            "rss_bytes": resident(),
            "apart": self.apart.name,
            "uids": self.apart.uids,
        }).encode())

    def become(self, uid, parent, fds, keeper):
        """The child's side of the fork. Never returns."""
        code = 70
        try:
            self.sock.detach()
            self.enclose(uid, parent, fds)
            code = session.keep(3, self) if keeper else child.serve(3, self)
        except child.frames.Closed:
            code = 0
        except BaseException as error:
            os.write(2, ("runtime: %s: %s\n" % (type(error).__name__, error)).encode("utf-8", "replace")[:1000])
        finally:
            os._exit(code)


def on_pipes(make):
    """Calls make while 0, 1 and 2 are pipes, as they are in every child: a stream looks
    at its descriptor once."""
    kept = [os.dup(fd) for fd in range(3)]
    ends = os.pipe()
    for fd in range(3):
        os.dup2(ends[fd > 0], fd)
    try:
        make()
    finally:
        for fd, old in enumerate(kept):
            os.dup2(old, fd)
        for fd in (*kept, *ends):
            os.close(fd)


def versions():
    import mpmath
    import numpy
    import plotly
    import sympy

    return {m.__name__: m.__version__ for m in (mpmath, numpy, plotly, sympy)}


def main(fd, plan, more):
    sys.setrecursionlimit(1000)
    os.umask(0o077)
    room = pages.room(ROOM)
    files = [json.__file__, importlib.util.find_spec("plotly").origin]
    zygote = Zygote(socket.socket(fileno=fd), apart.choose(files, plan), plan, more, room)
    zygote.prepare()
    forks.Forks(zygote.sock, zygote.apart, zygote.become).run()
