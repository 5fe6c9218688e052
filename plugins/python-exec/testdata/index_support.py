"""What the tests of runtime/index.py share: the module itself, documents, programs."""

import ast
import json
import pathlib
import sys
import types
import warnings

RUNTIME, PROGRAMS = sys.argv[1], sys.argv[2:]
package = types.ModuleType("_runtime")
package.__path__ = [RUNTIME]
sys.modules["_runtime"] = package
from _runtime import index

warnings.simplefilter("ignore")
sys.setrecursionlimit(20_000)


def parse(text):
    return ast.parse(text)


def document(text, sections=None, **options):
    raw, nodes, depth = index.dump(parse(text), text, sections, **options)

    def no_constant(token):
        raise AssertionError("JSON holds " + token)

    found = json.loads(raw.decode("utf-8"), parse_constant=no_constant)
    assert (found["code"]["nodes"], found["code"]["depth"]) == (nodes, depth)
    return found


def sections(text, *names):
    return document(text, list(names) or [name for name in index.SECTIONS if name != "tree"])["ast"]


def programs():
    for folder in PROGRAMS:
        for file in sorted(pathlib.Path(folder).rglob("*.py")):
            text = file.read_bytes().decode("utf-8")
            try:
                yield file.name, text, parse(text)
            except SyntaxError:
                continue
