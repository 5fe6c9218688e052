"""Answers requests for documents, one line each way, with the index of the Python runtime.

A request is {"code": base64, "sections": [...] or null}; an answer {"document": base64}
or {"error": text}. The folder of index.py is the only argument.
"""

import ast
import base64
import json
import sys

sys.path.insert(0, sys.argv[1])
sys.setrecursionlimit(10_000)
import index

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
