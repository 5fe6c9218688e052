"""Exceptions and warnings as the program's author should read them.

Only frames of the submitted text are shown, and no path of the host.
"""

import collections
import os
import sys
import sysconfig
import traceback
import types
import warnings

FILENAME = "<solution>"
FILENAMES = {FILENAME}  # of a session: of all its cells
TRACE_BYTES = 7 << 10
MESSAGE_BYTES = 2 << 10
MARK = "\n[...]\n"
MOST_FRAMES = 1500  # at either end
MOST_LINKS = 50
MOST_DEPTH = 20_000  # 64 MiB of stack hold so many calls through C


def _prefixes():
    names = ("stdlib", "platstdlib", "purelib", "platlib", "data")
    found = {sysconfig.get_path(name) for name in names} | {sys.prefix, sys.base_prefix, sys.exec_prefix}
    found |= {os.path.realpath(path) for path in found if path}
    return sorted((path + "/" for path in found if path and path != "/"), key=len, reverse=True)


PREFIXES = _prefixes()


def name_text(name):
    """From here on the submitted text is known by that name; frames of texts
    before it are shown still."""
    global FILENAME
    FILENAME = name
    FILENAMES.add(name)


def scrub(text):
    """The text without the folders that the interpreter is installed in."""
    if "/" in text:
        for prefix in PREFIXES:
            text = text.replace(prefix, "")
    return text


def clip(text, limit):
    """At most limit bytes of the text, its beginning and its end."""
    if len(text) <= limit // 4:
        return text
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= limit:
        return data.decode("utf-8")
    head = (limit - len(MARK)) // 3
    tail = limit - len(MARK) - head
    return data[:head].decode("utf-8", "ignore") + MARK + data[-tail:].decode("utf-8", "ignore")


def printable(text):
    """The text with what UTF-8 cannot carry written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _user_frames(tb):
    first, last = [], collections.deque(maxlen=MOST_FRAMES)
    while tb is not None:
        if tb.tb_frame.f_code.co_filename in FILENAMES:
            (first if len(first) < MOST_FRAMES else last).append(tb)
        tb = tb.tb_next
    chain = None
    for tb in reversed(first + list(last)):
        chain = types.TracebackType(chain, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
    return chain


def _links(error):
    """The exception and all that it names as cause, context or part."""
    todo, seen = [error], []
    while todo and len(seen) < MOST_LINKS:
        link = todo.pop()
        if link is None or any(link is other for other in seen):
            continue
        seen.append(link)
        todo += [link.__cause__, link.__context__]
        if isinstance(link, BaseExceptionGroup):
            todo += link.exceptions
    return seen


def innermost(error):
    """The line of the submitted text that the exception left last, or 0."""
    line, tb = 0, error.__traceback__
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == FILENAME:
            line = tb.tb_lineno or line
        tb = tb.tb_next
    return line


def render(error):
    """The traceback as CPython would print it, user frames only."""
    for link in _links(error):
        try:
            BaseException.with_traceback(link, _user_frames(link.__traceback__))
        except TypeError:
            pass
    lines = traceback.TracebackException(type(error), error, error.__traceback__, compact=True).format()
    return clip(printable(scrub("".join(lines))), TRACE_BYTES)


def message(error):
    try:
        text = str(error)
    except BaseException:
        text = "<exception str() failed>"
    return clip(printable(scrub(text)), MESSAGE_BYTES)


def problem(error):
    """What the gateway tells of an uncaught exception."""
    line = innermost(error)
    text = message(error)
    return {"type": type(error).__name__[:200], "message": text, "line": line, "column": 0, "trace": render(error)}


def compile_problem(error, lines):
    """What the gateway tells of a text that does not parse."""
    kind = type(error).__name__
    text, line, column, end = str(error), 0, 0, 0
    if isinstance(error, SyntaxError):
        text, line, column = error.msg or text, error.lineno or 0, max(error.offset or 0, 0)
        end = error.end_offset or 0 if error.end_lineno == error.lineno else 0
    elif isinstance(error, ValueError):
        kind = "SyntaxError"
    else:
        text = "too deeply nested to parse" if not text or text == "None" else "too deeply nested to parse: " + text
    text = clip(printable(text), MESSAGE_BYTES)
    trace = ""
    if line:
        trace = '  File "%s", line %d\n' % (FILENAME, line)
        if line <= len(lines):
            trace += _caret(lines[line - 1], column, end)
    return {"type": kind, "message": text, "line": line, "column": column, "trace": trace + "%s: %s\n" % (kind, text)}


def _caret(source, column, end, window=160):
    source = source.rstrip("\r\n\f")
    cut = max(0, column - 1 - window // 2) if len(source) > window else 0
    shown = source[cut:cut + window]
    bare = shown.lstrip(" \t\f")
    text = "    %s\n" % printable(bare)
    at = column - 1 - cut - (len(shown) - len(bare))
    if column and 0 <= at <= len(bare):
        width = max(1, min(end - column, len(bare) - at))
        text += "    %s%s\n" % ("".join(c if c == "\t" else " " for c in bare[:at]), "^" * width)
    return text


def bound_depth():
    """Keeps programs that ask for no limit of recursion from the end of the stack,
    and from traces that take longer to build than the program ran."""
    real = sys.setrecursionlimit

    def setrecursionlimit(limit, /):
        real(min(limit, MOST_DEPTH) if isinstance(limit, int) else limit)

    setrecursionlimit.__module__ = "sys"
    setrecursionlimit.__qualname__ = "setrecursionlimit"
    sys.setrecursionlimit = setrecursionlimit


def install():
    """Makes warnings, threads and finalisers speak as the traceback does."""
    import threading

    def formatwarning(text, category, filename, lineno, line=None):
        import linecache

        source = linecache.getline(filename, lineno) if line is None and filename in FILENAMES else line
        shown = "%s:%d: %s: %s\n" % (scrub(filename), lineno, category.__name__, text)
        return scrub(shown) + ("  %s\n" % source.strip() if source and source.strip() else "")

    def in_thread(args):
        if args.exc_type is SystemExit:
            return
        name = args.thread.name if args.thread is not None else "?"
        print("Exception in thread %s:\n%s" % (name, render(args.exc_value)), end="", file=sys.stderr)

    def unraisable(args):
        what = args.err_msg or "Exception ignored in"
        print("%s: %r\n%s" % (what, args.object, render(args.exc_value)), end="", file=sys.stderr)

    warnings.formatwarning = formatwarning
    threading.excepthook = in_thread
    sys.unraisablehook = unraisable
    sys.excepthook = lambda kind, error, tb: print(render(error), end="", file=sys.stderr)
