"""Loads the runtime from a descriptor, so that no file of it is ever on disk.

The text of this file is the argument of `python -I -c`; descriptor 4 holds a
JSON object: "sources", {name: source} of the other files here, and "plan", what
the Go side has decided of the walls (walls.go).
"""

import importlib.abc
import importlib.machinery
import json
import os
import sys


class Bundle(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports `_runtime` and its modules from memory."""

    def __init__(self, sources):
        self.sources = sources

    def find_spec(self, name, path=None, target=None):
        package, _, leaf = name.partition(".")
        if package != "_runtime" or (leaf and leaf not in self.sources):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=not leaf)

    def exec_module(self, module):
        leaf = module.__name__.partition(".")[2]
        if leaf:
            code = compile(self.sources[leaf], "<runtime>/%s.py" % leaf, "exec", dont_inherit=True)
            exec(code, module.__dict__)


def main():
    with os.fdopen(4, "rb") as file:
        given = json.loads(file.read())
    bundle = Bundle(given["sources"])
    sys.meta_path.insert(0, bundle)
    from _runtime import zygote

    sys.meta_path.remove(bundle)
    zygote.main(3, given["plan"], given["warm_up"])


main()
