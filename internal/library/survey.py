"""What an environment's new libraries bring: asked of its interpreter before a program may import them.

Reads {"roots", "before", "modules", "warm_up"} from standard input, writes one JSON object.
"""

import importlib
import json
import os
import pkgutil
import re
import resource
import sys
import types

# Modules of a library that are for its makers, or that read and write files or speak to others.
UNWANTED = re.compile(r"(^|\.)(_.*|tests?|testing|conftest|setup|io|datasets|data|misc|distutils|f2py|cli|__main__|server|web|download|examples?|benchmarks?|version|conf|config)$")
# Functions that read or write what is not in the program, or evaluate text.
TELLTALE = re.compile(r"^(open|load|save|read|write|dump|fetch|download|urlopen|popen|fromfile|tofile|memmap|clear_cache)|^(exec|eval|system)$|_(file|path)s?$|^(from|to)_(file|csv|json|pickle)$")


def main():
    ask = json.load(sys.stdin)
    out, sys.stdout = sys.stdout, open(os.devnull, "w")
    for name in ask["before"]:
        importlib.import_module(name)
    memory = peak()
    known = set(sys.modules)
    modules = ask["modules"] or [name for root in ask["roots"] for name in public(root)]
    found, failed = {}, {}
    for name in modules:
        try:
            found[name] = importlib.import_module(name)
        except Exception as error:
            failed[name] = "%s: %s" % (type(error).__name__, error)
    if ask["warm_up"]:
        exec(ask["warm_up"], {"__name__": "warm"})
    grown = peak() - memory
    denied = set()
    for name, module in found.items():
        denied.update(exposed(name, module, set(found), set(ask["roots"])))
    json.dump({
        "modules": sorted(found), "failed": failed, "denied": sorted(denied), "memory_bytes": grown,
        "loaded": len(set(sys.modules) - known),
    }, out)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def public(root, depth=2):
    """The root and the public packages below it, two levels deep."""
    names = [root]
    try:
        path = getattr(importlib.import_module(root), "__path__", [])
    except Exception:
        return names  # it is told when it is imported again
    for info in pkgutil.iter_modules(path):
        name = root + "." + info.name
        if info.ispkg and depth > 0 and not UNWANTED.search(name):
            names += public(name, depth - 1)
    return names


def exposed(name, module, allowed, roots):
    """Paths by which an allowed module leads to one that is not, or to a file."""
    for attribute in sorted(set(dir(module)) | set(getattr(module, "__all__", ()))):
        if attribute.startswith("_"):
            continue  # no rule lets a private name of a library pass
        try:
            value = getattr(module, attribute)
        except Exception:
            continue
        if isinstance(value, types.ModuleType):
            if value.__name__ not in allowed:
                yield "%s.%s" % (name, attribute)
        elif callable(value) and TELLTALE.search(attribute):
            yield "%s.%s" % (name, attribute)


main()
