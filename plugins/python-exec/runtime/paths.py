"""The last wall but one of a child: which files it can name.

The Go side lays the domain out (internal/sandbox, ChildDomain, which also says
what the steps are). It comes after the child's mounts, since those in a domain
of paths can mount nothing.
"""

import base64
import ctypes
import os
import stat
import struct
from functools import partial

from _runtime import walls
from _runtime.walls import word

CREATE, ADD_RULE, RESTRICT = 444, 445, 446
PATH_BENEATH = 1
BENEATH = struct.Struct("=Qi")


def entering(plan, scratch):
    """A function that enters a plan's "paths", for children with a /tmp of their own
    or without; it is made ready as walls.enclosing tells. Without a plan it does nothing."""
    if not plan:
        return lambda: None
    attr, zero, beneath = base64.b64decode(plan["attr"]), word(0), word(PATH_BENEATH)
    create = partial(walls.syscall, word(CREATE), attr, word(len(attr)), zero)
    add, restrict = partial(walls.syscall, word(ADD_RULE)), partial(walls.syscall, word(RESTRICT))
    rules = [made for rule in plan["rules"] if scratch or rule["path"] != "/tmp" if (made := ready_rule(rule))]
    open, close, put, fail, flags = os.open, os.close, BENEATH.pack_into, walls.fail, os.O_PATH | os.O_CLOEXEC
    missing = FileNotFoundError, PermissionError

    def enter():
        ruleset = create()
        if ruleset < 0:
            fail()
        number = word(ruleset)
        for path, access, rule in rules:
            try:
                fd = open(path, flags)
            except missing:
                continue  # there is nothing to leave to this child
            put(rule, 0, access, fd)
            if add(number, beneath, rule, zero) != 0:
                fail()
            close(fd)
        if restrict(number, zero) != 0:
            fail()
        close(ruleset)

    return enter


def ready_rule(rule):
    """The rule's path, what is allowed beneath and room for what the kernel is told; or
    nothing where there is nothing."""
    try:
        kind = os.stat(rule["path"]).st_mode
    except (FileNotFoundError, PermissionError):
        return None
    access = rule["dir"] if stat.S_ISDIR(kind) else rule["file"]
    return (os.fsencode(rule["path"]), access, ctypes.create_string_buffer(BENEATH.size)) if access else None
