"""Answers requests for documents, one line each way, with the index of the Python runtime.

A request is {"code": base64, "sections": [...] or null}; an answer {"document": base64}
or {"error": text}. The runtime's folder is the only argument.
"""

import ast
import base64
import json
import sys
import types

# The runtime's files are modules of one package, under the name that python-exec loads them by.
package = types.ModuleType("_runtime")
package.__path__ = [sys.argv[1]]
sys.modules["_runtime"] = package
sys.setrecursionlimit(10_000)
from _runtime import index

for line in sys.stdin:
    request = json.loads(line)
    code = base64.b64decode(request["code"])
    try:
        text = code.decode("utf-8")
        document, _, _ = index.dump(ast.parse(text), text, request["sections"], code=code)
        answer = {"document": base64.b64encode(document).decode()}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
