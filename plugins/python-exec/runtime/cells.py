"""The making of a session's cell, in a fresh child that runs none of it.

A cell is parsed, shown to the policy and compiled here, never by the process
that ran earlier cells: that one could show one thing and run another. The code
goes to it by way of the Go side (session.py).
"""

import hashlib
import json
import marshal
import os
import resource
import struct
import textwrap

from _runtime import figure, frames, trace

MOST_BYTES, MOST_NAME_BYTES = 16 << 20, 1 << 20


def name(ask):
    """What tracebacks call the cell's text."""
    return "<cell %d>" % ask["cell"]


def straighten(text):
    """The text without an indentation that all of it has, or its first line alone:
    cells are often cut out of indented text."""
    first = _first(text)
    if first[:1] not in (" ", "\t"):
        return text
    text = textwrap.dedent(text)
    first = _first(text)
    return text.replace(first, first.lstrip(" \t"), 1) if first[:1] in (" ", "\t") else text


def _first(text):
    """The first line that is neither blank nor a comment."""
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            return line
    return ""


def offer(control, ask, program, limit, base):
    """Compiles the judged tree, and hands the code over when the verdict asks for it.
    Compiling runs nothing, and the verdict takes as long. Returns the exit code."""
    answers = make(ask, program)
    order = json.loads(frames.receive(control, b"K"))
    if order["memory"]:
        limit(resource.RLIMIT_AS, base + order["memory"], base + order["memory"] + (32 << 20))
    for kind, payload in answers:
        frames.send(control, kind, payload)
    os.read(control, 1)  # to end takes a while, which is not to be the cell's
    return 0


def make(ask, program):
    """The frames that answer a request for the code."""
    try:
        codes = program.compiled()
    except SyntaxError as error:
        problem = trace.compile_problem(error.with_traceback(None), program.lines)
        return [(b"E", json.dumps(problem).encode())]
    about = {
        "name": name(ask),
        "text": program.text,
        "bound": figure.bound(program.tree),
        "warnings": [[str(w.message), w.category.__name__, w.lineno] for w in program.seen],
    }
    packed = pack(about, codes)
    names = json.dumps(program.aliases).encode()
    if len(packed) > MOST_BYTES or len(names) > MOST_NAME_BYTES:
        return [(b"L", b"")]
    return [(b"A", names), (b"M", packed)]


def pack(about, codes):
    head = json.dumps(about).encode()
    body = struct.pack(">I", len(head)) + head + marshal.dumps(codes)
    return hashlib.sha256(body).digest() + body
