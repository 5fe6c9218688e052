"""One child: parses one submission, waits for the verdict, runs it, ends; or
parses one after another and runs none (readers.go).

Begin with serve(). Until the run frame has come nothing of the submission is
executed. Everything sent from here on is taken for hostile by the Go side.
"""

import ast
import atexit
import gc
import io
import json
import linecache
import os
import resource
import socket
import struct
import sys
import threading
import types
import warnings

from _runtime import cells, fence, figure, frames, guard, trace

try:
    from _runtime import index
except ImportError:
    index = None

# Deep but legal texts (long sums, long elif chains) need more than the 1,000
# levels that programs get. The stack is raised to match.
PARSE_DEPTH = 5000
STACK_BYTES = 64 << 20
VALUE_BYTES = 64 << 10
LIMIT_SLACK = 32 << 20

REHEARSALS = 30
WARM_UP = """\
import sympy as sp
x = sp.Symbol('x')
odd = [k for k in range(5) if k % 2]
print(sp.factor(12), odd)
"""


# Bound before any program runs: it may replace json.dumps.
encode = json.JSONEncoder().encode


class Refused(Exception):
    """The text does not parse; carries the problem to tell."""


class Stderr(io.TextIOWrapper):
    """A stream that tells no host path."""

    def write(self, text):
        if type(text) is str:
            super().write(trace.scrub(text))
            return len(text)
        return super().write(text)


def writer(fd, name, errors, kind):
    raw = io.FileIO(fd, "w", closefd=False)
    stream = kind(io.BufferedWriter(raw), encoding="utf-8", errors=errors, newline="\n", line_buffering=True)
    stream.mode = "w"
    raw.name = name
    return stream


def streams():
    """Text streams on 0, 1 and 2, as CPython opens them on a UTF-8 terminal-less host."""
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(
        io.BufferedReader(io.FileIO(0, "r", closefd=False)), encoding="utf-8", errors="strict"
    )
    sys.stdout = sys.__stdout__ = writer(1, "<stdout>", "strict", io.TextIOWrapper)
    sys.stderr = sys.__stderr__ = writer(2, "<stderr>", "backslashreplace", Stderr)


def limit(which, soft, hard=None):
    """Lowers a limit; never above what already holds."""
    top = resource.getrlimit(which)[1]
    hard = soft if hard is None else hard
    if top != resource.RLIM_INFINITY:
        soft, hard = min(soft, top), min(hard, top)
    resource.setrlimit(which, (soft, hard))


def decode(code):
    """The text of a submission: UTF-8, one leading U+FEFF dropped."""
    try:
        text = code.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(SyntaxError("the text is not valid UTF-8: " + error.reason), []) from None
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        for bad, what in (("\0", "a NUL character"), ("\r", "a carriage return without a line feed")):
            at = (line.removesuffix("\r") if number < len(lines) else line).find(bad)
            if at >= 0:
                raise Refused(SyntaxError("the text holds " + what, (trace.FILENAME, number, at + 1, line)), lines)
    return text, lines


def parse(text, lines):
    """The text's tree and the warnings that parsing it gave."""
    with warnings.catch_warnings(record=True) as seen:
        try:
            return ast.parse(text, trace.FILENAME), seen
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Refused(error.with_traceback(None), lines) from None


def dump(tree, text, sections, code=None, known=None, aliases=None):
    """The tree document's bytes, its number of nodes and its depth.

    ``code`` is the text as submitted, whose digest the document bears; ``known``
    and ``aliases`` are for cells: see index.dump.
    """
    if index is None:
        nodes = sum(1 for _ in ast.walk(tree))
        return json.dumps({"schema": "pyast/1", "language": "python", "ast": {}}).encode(), nodes, 1
    return index.dump(tree, text, sections, code=code, known=known, aliases=aliases)


class Program:
    """A parsed submission and, later, how its run ended."""

    def __init__(self, text, lines, tree, seen):
        self.text, self.lines, self.tree, self.seen = text, lines, tree, seen
        self.value = self.error = None
        self.has_value = False
        self.exit_code = 0
        self.misplaced = False  # it parses, but does not compile: `return` outside a function

    def prepare(self, grants):
        """The module that the program runs in: `__main__`, with the fence's names."""
        linecache.cache[trace.FILENAME] = (
            len(self.text), None, [line.rstrip("\r") + "\n" for line in self.lines], trace.FILENAME
        )
        module = types.ModuleType("__main__")
        if "builtin:*" in grants:
            guard.open()
        module.__dict__["__builtins__"] = (
            sys.modules["builtins"] if {"import:*", "builtin:*"} <= set(grants) else fence.names(grants)
        )
        module.__dict__.pop("__spec__", None)
        sys.modules["__main__"] = module
        return module.__dict__

    def compiled(self):
        """The judged tree as code: the statements, and the last expression apart."""
        body, last = self.tree.body, None
        if body and isinstance(body[-1], ast.Expr):
            last = ast.Expression(body[-1].value)
            body = body[:-1]
        try:
            code = compile(ast.Module(body, []), trace.FILENAME, "exec", dont_inherit=True)
            if last is not None:
                future = code.co_flags & FUTURE
                last = compile(last, trace.FILENAME, "eval", flags=future, dont_inherit=True)
            return code, last
        except RecursionError:
            return compile(self.text, trace.FILENAME, "exec", dont_inherit=True), None

    def execute(self, namespace, value_wanted):
        for seen in self.seen:
            warnings.showwarning(seen.message, seen.category, seen.filename, seen.lineno)
        try:
            code, last = self.compiled()
        except SyntaxError as error:
            self.misplaced = True
            raise error.with_traceback(None) from None
        sys.setrecursionlimit(1000)
        exec(code, namespace)
        if last is not None:
            self.value = eval(last, namespace)
            self.has_value = value_wanted and self.value is not None

    def attempt(self, step, *args):
        """Runs a step of the program; what it raises becomes how it ended."""
        try:
            return step(*args)
        except SystemExit as error:
            self.leave(error)
        except BaseException as error:
            self.fail(error)
        return None

    def leave(self, error):
        code = error.code
        if code is None or isinstance(code, int):
            self.exit_code = (code or 0) & 0xFF
            return
        self.exit_code = 1
        try:
            print(code, file=sys.stderr)
        except BaseException:
            pass

    def fail(self, error):
        if self.error is None:
            self.error = error

    def problem(self):
        """What to tell of the exception that ended the program, or None."""
        if self.error is None:
            return None
        try:
            if self.misplaced:
                return trace.compile_problem(self.error, self.lines)
            return trace.problem(self.error)
        except BaseException:
            return {"type": type(self.error).__name__, "message": "", "line": 0, "column": 0, "trace": ""}

    def text_of_value(self):
        return trace.clip(trace.printable(as_text(self.value)), VALUE_BYTES)


FUTURE = 0
for _name in __import__("__future__").all_feature_names:
    FUTURE |= getattr(__import__("__future__"), _name).compiler_flag
del _name


def as_text(value):
    """A value as the tools show it: whole floats as integers, 12 digits else."""
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        return format(float(value), ".12g")
    return str(value)


def finish():
    """What CPython does between the last line and the exit."""
    threading._shutdown()
    atexit._run_exitfuncs()


def flush():
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except BaseException:
            pass


def warm_up():
    """Runs a small program, so that the pages it touches are this child's own. What
    few programs need is left out: each page costs a child as much here as later."""
    tree = ast.parse(WARM_UP)
    dump(tree, WARM_UP, None)
    out, sys.stdout = sys.stdout, io.StringIO()
    try:
        program = Program(WARM_UP, WARM_UP.split("\n"), tree, [])
        namespace = program.prepare(["import:*"])
        program.execute(namespace, False)
        figure.choose(figure.Shown(), None, tree, namespace)
    finally:
        sys.stdout = out
        linecache.cache.pop(trace.FILENAME, None)


def rehearse(shown):
    """What a child does with a submission but for its limits, so often that CPython has
    it in its quick form: the slow one writes where it looks a name up."""
    ask = {"sections": None, "cell": False, "known": None, "max_tree_bytes": 1 << 20, "name": ""}
    order = {"grants": ["import:sympy"], "value_wanted": True, "artifact_bytes": 0}
    ours, theirs = socket.socketpair()
    out, sys.stdout = sys.stdout, io.StringIO()
    try:
        with ours, theirs:
            for _ in range(REHEARSALS):
                program = judged(ours.fileno(), ask, WARM_UP.encode())
                perform(ours.fileno(), program, order, shown, lambda: None)
                theirs.recv(1 << 20)
    finally:
        sys.stdout = out
        linecache.cache.pop(trace.FILENAME, None)


def serve(control, zygote):
    """The whole life of a child. Returns its exit code."""
    frames.receive(control, b"G")  # the Go side has put this process into its control group
    resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES, STACK_BYTES))
    if not zygote.apart.scratch:
        limit(resource.RLIMIT_FSIZE, 0)
    warm_up()
    zygote.reseed(used=False)
    atexit._clear()
    zygote.enter_paths()
    zygote.close_calls(control)
    shown, base = zygote.shown, zygote.base

    sys.setrecursionlimit(PARSE_DEPTH)
    while True:
        ask = json.loads(frames.receive(control, b"S"))
        code = frames.receive(control, b"C")
        if ask["memory"]:
            limit(resource.RLIMIT_AS, base + ask["memory"], base + ask["memory"] + LIMIT_SLACK)
        program = judged(control, ask, code)
        if not ask["stays"]:
            break
        program = None  # of this text nothing runs; readers.go sends the next
    if program is None:
        return 0
    if ask["cell"]:
        return cells.offer(control, ask, program, limit, base)
    order = json.loads(frames.receive(control, b"R"))
    return run(control, program, order, shown, base)


def judged(control, ask, code):
    """Parses and sends the tree, or the reason why there is none."""
    aliases = {}
    try:
        if ask["cell"]:
            trace.name_text(cells.name(ask))
        text, lines = decode(code)
        if ask["cell"]:
            text = cells.straighten(text)
            lines = text.split("\n")
        tree, seen = parse(text, lines)
    except Refused as refused:
        frames.send(control, b"E", json.dumps(trace.compile_problem(*refused.args)).encode())
        return None
    try:
        document, nodes, depth = dump(tree, text, ask["sections"], code, ask["known"], aliases)
    except Exception as error:
        if type(error).__name__ != "TooLarge":
            raise
        document = None
    if document is None or len(document) > ask["max_tree_bytes"]:
        frames.send(control, b"L")
        return None
    frames.send(control, b"T", struct.pack(">II", nodes, depth) + document)
    program = Program(text, lines, tree, seen)
    program.aliases = aliases
    return program


def hide():
    """Takes the runtime's own modules out of the program's sight. For the zygote:
    a look at every name costs a child a page for each."""
    for name in [name for name in sys.modules if name.split(".")[0] == "_runtime"]:
        del sys.modules[name]


def run(control, program, order, shown, base):
    """Runs the program within the order's limits and tells how it ended."""
    if order["cpu_seconds"]:
        limit(resource.RLIMIT_CPU, order["cpu_seconds"], order["cpu_seconds"] + 1)
    limit(resource.RLIMIT_FSIZE, order["scratch_bytes"])
    if order["tasks"]:
        limit(resource.RLIMIT_NPROC, order["tasks"])
    if order["memory"]:
        limit(resource.RLIMIT_AS, base + order["memory"], base + order["memory"] + LIMIT_SLACK)
    gc.freeze()
    gc.enable()
    perform(control, program, order, shown, finish)
    os.read(control, 1)  # the Go side takes its figures of this process, then ends it
    return program.exit_code


def perform(control, program, order, shown, finish):
    """The run itself; ``finish`` is what CPython does at the exit."""
    shown.data = shown.error = None
    namespace = program.prepare(order["grants"])
    program.attempt(program.execute, namespace, order["value_wanted"])
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 1000))
    end = {"value": "", "has_value": False, "figure_bytes": 0, "notes": []}
    if program.has_value and program.error is None:
        end["value"] = program.attempt(program.text_of_value) or ""
        end["has_value"] = program.error is None
    program.attempt(finish)
    drawn = picture(program, shown, namespace, end)
    flush()
    resource.setrlimit(resource.RLIMIT_AS, (resource.getrlimit(resource.RLIMIT_AS)[1],) * 2)
    tell(control, program, order, drawn, end)


def picture(program, shown, namespace, end):
    """The figure's JSON or None; a figure that cannot be written is a note."""
    try:
        return figure.choose(shown, program.value, program.tree, namespace)
    except BaseException as error:
        end["notes"].append("the figure was left out: %s: %s" % (type(error).__name__, trace.message(error)[:500]))
        return None


def tell(control, program, order, drawn, end):
    """Sends the figure and the end frame. A failure here is told by the exit alone."""
    end["exit_code"] = program.exit_code
    end["problem"] = program.problem()
    end["memory"] = isinstance(program.error, MemoryError)
    end["misplaced"] = program.misplaced
    if drawn is not None:
        end["figure_bytes"] = len(drawn)
        if not order["artifact_bytes"] or len(drawn) <= order["artifact_bytes"]:
            frames.send(control, b"F", drawn)
    if program.error is not None:
        program.exit_code = 1
    frames.send(control, b"X", encode(end).encode())
