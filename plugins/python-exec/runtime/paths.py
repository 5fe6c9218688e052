"""The last wall but one of a child: which files it can name.

The Go side lays the domain out (internal/sandbox, ChildDomain, which also says
what the steps are). It comes after the child's mounts, since those in a domain
of paths can mount nothing.
"""

import base64
import os
import stat
import struct

from _runtime import walls

CREATE, ADD_RULE, RESTRICT = 444, 445, 446
PATH_BENEATH = 1


class Domain:
    """A plan's "paths", for children with a /tmp of their own or without."""

    def __init__(self, plan, scratch):
        self.attr = base64.b64decode(plan["attr"])
        self.rules = [rule for rule in plan["rules"] if scratch or rule["path"] != "/tmp"]

    def enter(self):
        ruleset = _call(CREATE, self.attr, walls.word(len(self.attr)), walls.word(0))
        for rule in self.rules:
            try:
                fd = os.open(rule["path"], os.O_PATH | os.O_CLOEXEC)
            except (FileNotFoundError, PermissionError):
                continue  # there is nothing to leave to this child
            access = rule["dir"] if stat.S_ISDIR(os.fstat(fd).st_mode) else rule["file"]
            if access:
                _call(ADD_RULE, walls.word(ruleset), walls.word(PATH_BENEATH), struct.pack("=Qi", access, fd), walls.word(0))
            os.close(fd)
        _call(RESTRICT, walls.word(ruleset), walls.word(0))
        os.close(ruleset)


class Open:
    """In place of a Domain where there is none."""

    def enter(self):
        pass


def ready(plan, scratch):
    return Domain(plan, scratch) if plan else Open()


def _call(number, *args):
    got = walls.syscall(walls.word(number), *args)
    if got < 0:
        walls.fail()
    return got
