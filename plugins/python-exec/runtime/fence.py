"""The names that a program sees. Not a boundary: the walls are that.

The policy judges the text; this fence keeps the program to what the verdict
granted, so that a gap in one is not at once a gap in both.
"""

import builtins

from _runtime import guard

# Text that runs, files, the terminal, what lists an object's attributes, and what
# the site module adds for people.
CLOSED = frozenset(
    "open exec eval compile input breakpoint vars dir exit quit copyright credits license help "
    "__loader__ __spec__ __package__".split()
)


def importer(modules):
    """An `__import__` that admits the named modules and no other.

    Modules of the libraries import with their own builtins and are not bound
    by it, nor is C code: it passes an empty list where a statement passes a
    tuple or None.
    """
    real = builtins.__import__
    allowed = frozenset(modules)

    def __import__(name, globals=None, locals=None, fromlist=(), level=0):
        if type(fromlist) is not list and level == 0 and name not in allowed:
            raise ImportError("import of %r is blocked" % (name,), name=name)
        return real(name, globals, locals, fromlist, level)

    return __import__


def names(grants):
    """The `__builtins__` of a program with these grants."""
    opened = {grant[8:] for grant in grants if grant.startswith("builtin:")}
    modules = {grant[7:] for grant in grants if grant.startswith("import:")}
    every = dict(vars(builtins))
    if "*" in opened:
        guard.open()
    else:
        every = {name: value for name, value in every.items() if name not in CLOSED or name in opened}
    if "*" not in modules:
        every["__import__"] = importer(modules)
    return every
